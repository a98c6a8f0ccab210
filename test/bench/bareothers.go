// The other engines of the command bare, when none is built in: a file of
// testdata/bare takes the place of this one, see barebuild.go.

package main

// bareOthers returns the engines that are built in, by name, with how to fill each.
func bareOthers() []bareOther { return nil }
