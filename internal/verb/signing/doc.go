// Package signing signs the heads of a memory's log with the home's key, and later checks that the log still
// contains the signed heads.
package signing
