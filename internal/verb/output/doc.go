// Package output writes the files and directories that verbs create for the user, at paths that the user chose. If a
// person edited an existing file, the package keeps a copy of the file before it replaces the file. The package never
// writes into a memory.
package output
