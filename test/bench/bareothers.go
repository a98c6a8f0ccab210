// This file is used if the command named "bare" is built without other search indexes, with which oxbow's index could
// be compared. Otherwise the build replaces this file by a file in testdata/bare (see barebuild.go).

package main

// otherIndexes returns the search indexes with which the command named "bare" compares oxbow's index. The list is empty
// unless the build replaces this file by another one.
func otherIndexes() []otherIndex { return nil }
