//go:build (!cgo || !sqlite_fts5) && !js && !wasip1

// This file is built instead of peercgo.go if the build tag sqlite_fts5 or cgo is missing. The comparison then leaves
// out the C version of SQLite.

package main

func cgoSearchMethods() []searchMethod { return nil }
