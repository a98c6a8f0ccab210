// This file documents the package, which contains only tests.

// Package designs tests the requirements of the five designs that oxbow implements. Each
// requirement is a row of a file in testdata/requirements. The row is played at every door through
// which a user reaches a memory: the command line, the Go library, MCP over standard streams and
// over HTTP, and the hooks of six clients.
package designs
