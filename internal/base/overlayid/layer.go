// Package overlayid gives entries different IDs if two stores are shown as one memory.
package overlayid

// UnderID is added to the IDs of entries in the lower store. The IDs in a log are always smaller
// than UnderID, and JavaScript can represent the sum exactly.
const UnderID = 1 << 52
