// Package transfer implements the verbs that move entries in and out of a memory as files: dump
// and load, export and import, and the conversion to another layout.
package transfer
