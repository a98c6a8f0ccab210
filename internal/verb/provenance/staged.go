// This file stores, while the changes of a call are examined, the entries as they will be after these changes.

package provenance

import "github.com/oxbow-memory/oxbow"

// entriesAfterChanges contains entries by name, as they are after the changes that were already processed.
type entriesAfterChanges struct {
	entries []oxbow.Entry
	indexes map[string]int // for each entry name, the index in entries
}

// newEntriesAfterChanges returns an empty entry set, with capacity for the number of changes.
func newEntriesAfterChanges(changeCount int) *entriesAfterChanges {
	return &entriesAfterChanges{make([]oxbow.Entry, 0, changeCount), make(map[string]int, changeCount)}
}

// findByName returns the entry with this name.
func (s *entriesAfterChanges) findByName(name string) (e oxbow.Entry, found bool) {
	i, found := s.indexes[name]
	if found {
		e = s.entries[i]
	}
	return e, found
}

// setEntry adds or replaces the entry with this name.
func (s *entriesAfterChanges) setEntry(name string, e oxbow.Entry) {
	if i, found := s.indexes[name]; found {
		s.entries[i] = e
		return
	}
	s.indexes[name] = len(s.entries)
	s.entries = append(s.entries, e)
}

// applyOpToEntries makes the change to the entry in s, so that later changes of the same call find the new version.
func (s *entriesAfterChanges) applyOpToEntries(op oxbow.Op) {
	old, _ := s.findByName(op.Target())
	s.setEntry(op.Target(), op.ApplyTo(old))
}
