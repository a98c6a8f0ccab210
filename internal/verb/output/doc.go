// Package output writes the files and directories that verbs make for the user, at paths that the
// user chose. It never replaces a file that the user edited without keeping it, and it never
// writes into a memory.
package output
