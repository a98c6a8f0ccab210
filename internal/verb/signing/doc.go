// Package signing signs the heads of a memory's log with a key from the home. It can later check that the log still
// contains the signed heads.
package signing
