// Package signing signs the heads of a memory's log with the key of its home, and compares them
// with the log.
package signing
