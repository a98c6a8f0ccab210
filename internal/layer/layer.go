// Package layer divides the IDs of entries: those of a store, and those of another that
// is read under it.
package layer

// UnderID is what the IDs of entries under a store have on top: none of a log is as
// large, and it is exact as a number of JavaScript.
const UnderID = 1 << 52
