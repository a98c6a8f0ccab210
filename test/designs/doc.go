// This file documents the package, which contains only tests.

// Package designs tests the requirements of five design documents that oxbow implements. Each requirement is a row of
// a file in testdata/requirements. A row consists of steps. The tests execute the steps through each interface to a
// memory. The interfaces (doors) are the command line, the Go library, MCP over standard streams and over HTTP, and
// the hooks of six clients.
package designs
