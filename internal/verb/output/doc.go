// Package output writes the files and directories that verbs make for the user, at paths that the
// user chose. If the user edited a file, the package keeps a copy before it replaces the file. It
// never writes into a memory.
package output
