// This file is used if the command bare is built without search indexes for comparison. Otherwise the build replaces
// it by a file in testdata/bare; see barebuild.go.

package main

// otherIndexes returns the search indexes with which the command named "bare" compares oxbow's index. The list is empty
// unless the build replaces this file by another one.
func otherIndexes() []otherIndex { return nil }
