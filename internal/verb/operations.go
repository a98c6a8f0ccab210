// This file groups changes as a person counts them. An import is a single operation, however many
// changes it made.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// Operation is a change, or several changes of the same import.
type Operation struct {
	Change          // the newest change, with the entries of all changes, newest first
	FirstSeq uint64 // number of the oldest change
}

// IsImport reports whether the operation is an import that needed several changes.
func (o Operation) IsImport() bool { return o.FirstSeq < o.Seq }

// JoinImportChanges joins each import's changes. The changes are in log order, newest first. An
// import's changes are joined only if they follow each other.
func JoinImportChanges(changes []Change) []Operation {
	var ops []Operation
	for _, c := range changes {
		if n := len(ops); n > 0 && ops[n-1].isSameImport(c) {
			last := &ops[n-1]
			last.FirstSeq, last.Entries = c.Seq, append(slices.Clip(last.Entries), c.Entries...)
			continue
		}
		ops = append(ops, Operation{Change: c, FirstSeq: c.Seq})
	}
	return ops
}

// isSameImport is like [oxbow.Change.OneImport] for changes in an answer.
func (o Operation) isSameImport(c Change) bool {
	isImport := c.Source.Actor == string(oxbow.Imported) && c.Note != "" && c.Source.Session != ""
	sameCall := c.Source.Session == o.Source.Session && c.Source.Actor == o.Source.Actor &&
		c.Source.Door == o.Source.Door
	return isImport && sameCall && c.Note == o.Note
}
