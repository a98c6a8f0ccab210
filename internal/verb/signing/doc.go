// Package signing signs the hashes of a memory's log. Such a hash (called a head) depends on all changes up to one
// change of the log. The key for the signatures is in the home, the directory of the memory. The package can later
// check that the log still contains the signed hashes.
package signing
