// Package overlayid divides the range of entry IDs between an overlay's upper and lower store.
package overlayid

// UnderID is added to the IDs of entries in the lower store. The IDs in a log are always smaller
// than UnderID, and JavaScript can represent the sum exactly.
const UnderID = 1 << 52
