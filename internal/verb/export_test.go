// This file gives the tests outside of the package what is not exported.

package verb

// WithOrigins is withOriginTurns.
var WithOrigins = withOriginTurns
