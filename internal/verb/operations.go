// This file groups changes as a person would count them. An import counts as one operation, even if it made many
// changes, and so do the parts of a call that changed many entries.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// Operation is a single change, or all changes of one call, such as an import.
type Operation struct {
	// The call's newest change. Two fields differ from it: Entries contains the entries of all changes of the call,
	// newest first, and Note is the note that the caller passed.
	Change
	FirstSeq uint64 // number of the oldest change
}

// HasManyChanges reports whether the operation has several changes.
func (o Operation) HasManyChanges() bool { return o.FirstSeq < o.Seq }

// IsImport reports whether the operation is an import that made several changes.
func (o Operation) IsImport() bool {
	return o.HasManyChanges() && o.Source.Actor == string(oxbow.Imported)
}

// GroupChangesByCall groups the changes of each call into one operation. The changes must be in the order of the log,
// newest first. Changes of a call are joined only if they directly follow each other.
func GroupChangesByCall(changes []Change) []Operation {
	var ops []Operation
	oldest := Change{} // oldest change of the last operation
	for _, c := range changes {
		if n := len(ops); n > 0 && oldest.follows(c) {
			last := &ops[n-1]
			last.FirstSeq, last.Entries = c.Seq, append(slices.Clip(last.Entries), c.Entries...)
			last.Note, _, _ = oxbow.SplitPartNote(c.Note)
		} else {
			ops = append(ops, Operation{Change: c, FirstSeq: c.Seq})
		}
		oldest = c
	}
	return ops
}

// follows is like [oxbow.Change.Follows], but compares changes in the form in which oxbow reports them to clients.
func (c Change) follows(o Change) bool { return c.toOxbowChange().Follows(o.toOxbowChange()) }

// toOxbowChange returns the change with those fields that [oxbow.Change.Follows] compares.
func (c Change) toOxbowChange() oxbow.Change {
	return oxbow.Change{
		Note: c.Note,
		Source: oxbow.Source{
			Door:    c.Source.Door,
			Actor:   oxbow.Actor(c.Source.Actor),
			Session: c.Source.Session,
		},
	}
}
