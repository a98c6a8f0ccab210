// This file groups changes as a person would count them. An import counts as one operation, even if it made many
// changes.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// Operation is a single change, or all changes of an import.
type Operation struct {
	// the newest change, whose list of entries also contains the entries of the other changes, newest first
	Change
	FirstSeq uint64 // number of the oldest change
}

// IsImport reports whether the operation is an import that made several changes.
func (o Operation) IsImport() bool { return o.FirstSeq < o.Seq }

// JoinImportChanges groups the changes of each import into one operation. The changes must be in the order of the log,
// newest first. Changes of an import are joined only if they directly follow each other.
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

// isSameImport reports whether c belongs to the same import as o, like [oxbow.Change.OneImport] for changes in an
// answer.
func (o Operation) isSameImport(c Change) bool {
	isImport := c.Source.Actor == string(oxbow.Imported) && c.Note != "" && c.Source.Session != ""
	sameCall := c.Source.Session == o.Source.Session && c.Source.Actor == o.Source.Actor &&
		c.Source.Door == o.Source.Door
	return isImport && sameCall && c.Note == o.Note
}
