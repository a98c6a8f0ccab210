// Package overlayid defines how entries get different IDs if an upper and a lower store are shown as one memory.
package overlayid

// LowerStoreOffset is added to the ID of each entry in the lower store, so that the ID differs from all IDs in the
// upper store. The IDs that a store assigns are always smaller than LowerStoreOffset. JavaScript can represent the
// resulting IDs exactly.
const LowerStoreOffset = 1 << 52
