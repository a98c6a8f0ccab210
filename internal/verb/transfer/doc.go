// Package transfer implements the verbs that exchange whole memories: dump, load, export, import, and the conversion
// to another layout.
package transfer
