// This file makes unexported functions available to tests outside the package.

package verb

// WithOrigins makes withOriginTurnNames available to these tests.
var WithOrigins = withOriginTurnNames
