// This file is used if no other engines are built in. Otherwise a file in testdata/bare
// replaces it; see barebuild.go.

package main

// bareOthers returns the engines that are built in.
func bareOthers() []bareOther { return nil }
