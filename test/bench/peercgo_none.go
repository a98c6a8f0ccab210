//go:build (!cgo || !sqlite_fts5) && !js && !wasip1

// This file leaves out SQLite in C if the build tags do not ask for it.

package main

func cgoPeers() []searchMethod { return nil }
