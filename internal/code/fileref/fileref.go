// Package fileref defines references from entries to files in a working tree, and the results of
// checking such references. Package annotate checks them.
package fileref

import "time"

// RefState says whether the referenced file, or the referenced lines of it, are unchanged in the working tree.
type RefState string

const (
	RefFresh RefState = "FRESH" // At least 80 % of the content is unchanged.
	// At least 80 % of the content is unchanged, but is now in another file or in other lines.
	RefMoved RefState = "MOVED"
	// The file was deleted, or less than 80 % of the referenced content is unchanged.
	RefStale        RefState = "STALE"
	RefUnverifiable RefState = "UNVERIFIABLE" // The earlier content is not known, or the file is not in this tree.
)

// Ref is a reference from an entry to a file, made at a certain time.
type Ref struct {
	// File is a path relative to the root of the tree. It may end with line numbers, as in
	// pool.go:42, pool.go:42-60, pool.go#L42 or pool.go#L42-L60. Then only these lines are checked.
	File string

	// GitBlobHash is the hash under which git stores the content that the file had at the time of the reference, as
	// annotate.Store.Blob returns it. It is "" if the hash is not known.
	GitBlobHash string

	ReferenceTime time.Time // time of the reference; if GitBlobHash is "", git finds the content at this time

	// MayBeFromOtherTree means that the referenced file may belong to another working tree. The reference is then
	// checked only if GitBlobHash is the hash of a content that is known in this tree.
	MayBeFromOtherTree bool
}

// CheckResult is the result of checking a reference.
type CheckResult struct {
	Ref
	State RefState
	// CurrentPath is the file's present path. If only a part of the file's lines still exists, CurrentPath is the path
	// of the file that contains these lines now. It has line numbers if the reference has line numbers. It is "" if the
	// file and the lines are still at the path in the reference.
	CurrentPath           string
	UnchangedContentShare float64 // unchanged share of the content, from 0 to 1 (0 if it is not known)
	Explanation           string  // sentence for people that explains why the reference has this state
}
