// Package overlayid divides the range of entry IDs between an overlay's upper and lower store.
package overlayid

// UnderID is added to the IDs of entries in the lower store. IDs of a log never become so
// large, and JavaScript can represent the sum exactly.
const UnderID = 1 << 52
