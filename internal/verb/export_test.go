// This file gives the tests outside of the package what is not exported.

package verb

// WithOrigins is withOrigins.
var WithOrigins = withOrigins
