// This file makes unexported functions available to tests outside the package.

package verb

// WithOrigins makes withOriginTurns available to these tests.
var WithOrigins = withOriginTurns
