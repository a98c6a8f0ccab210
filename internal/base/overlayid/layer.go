// Package overlayid defines how entries get different IDs if an upper and a lower store are shown as one memory.
package overlayid

// LowerStoreIDOffset is added to the ID of each entry in the lower store, so that the ID differs from all IDs in the
// upper store. The IDs that a store assigns are always smaller than LowerStoreIDOffset. JavaScript can represent the
// resulting IDs exactly.
const LowerStoreIDOffset = 1 << 52
