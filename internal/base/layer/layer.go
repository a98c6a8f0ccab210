// Package layer divides the IDs of entries: the IDs of a store, and the IDs of another
// that is read under it.
package layer

// UnderID is what the IDs of entries under a store have on top: none of a log is as
// large, and it is exact as a number of JavaScript.
const UnderID = 1 << 52
