//go:build cgo && sqlite_fts5 && !js && !wasip1

// This file adds SQLite's FTS5 (the implementation in C) to the compared search programs. To use it, run: go run -tags
// sqlite_fts5 . peers

package main

import _ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

func cgoSearchMethods() []searchMethod {
	return []searchMethod{fts5SearchMethod("fts5-cgo", "SQLite FTS5 (mattn, cgo)", "sqlite3")}
}
