// Package fileref defines references from entries to files in a working tree, and the results of
// checking such references. Package annotate checks them.
package fileref

import "time"

// FileState is the state of a referenced file or its referenced lines in the working tree.
type FileState string

const (
	Fresh FileState = "FRESH" // at least .8 of the content is unchanged
	// at least .8 of the content is unchanged, but in a different file or in different lines
	Moved        FileState = "MOVED"
	Stale        FileState = "STALE"        // the file was deleted, or less than .8 of the content is unchanged
	Unverifiable FileState = "UNVERIFIABLE" // the old content is unknown, or the file is not in this tree
)

// Ref is a reference to a file.
type Ref struct {
	// File is a path relative to the root of the tree. It may end with line numbers, as in
	// pool.go:42, pool.go:42-60, pool.go#L42 or pool.go#L42-L60. Then only these lines are checked.
	File string

	// Blob is git's name for the content at that time, as annotate.Store.Blob returns it, or "" if the name is not
	// known.
	Blob string

	Time time.Time // time of the reference, used to find the content in git if Blob is empty

	// IsDoubtful means that the reference may belong to a different tree. Then the file is checked
	// only if Blob identifies its content.
	IsDoubtful bool
}

// CheckResult is the result of checking a reference.
type CheckResult struct {
	Ref
	State FileState
	// CurrentPath is the file's present path, or the path of the file that contains its remaining lines. It
	// is "" if the path is File. Now has line numbers if File has line numbers.
	CurrentPath    string
	UnchangedShare float64 // share of the content that is unchanged, 0 to 1; 0 if it is not known
	Explanation    string  // the result in words, for people
}
