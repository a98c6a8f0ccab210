// Package overlayid gives entries different IDs if two stores are shown as one memory.
package overlayid

// LowerStoreOffset is added to the IDs of entries in the lower store. The IDs in a log are always smaller
// than LowerStoreOffset, and JavaScript can represent the sum exactly.
const LowerStoreOffset = 1 << 52
