// This file keeps the entries that the changes of a call create or modify.

package provenance

import "github.com/oxbow-memory/oxbow"

// stagedEntries contains entries by name, as they are after the changes that were already processed.
type stagedEntries struct {
	entries []oxbow.Entry
	indexes map[string]int // index in entries of each name
}

// newStagedEntries returns an empty set with memory for the entries of the given number of changes.
func newStagedEntries(changes int) *stagedEntries {
	return &stagedEntries{make([]oxbow.Entry, 0, changes), make(map[string]int, changes)}
}

// find returns the entry with this name.
func (s *stagedEntries) find(name string) (e oxbow.Entry, found bool) {
	i, found := s.indexes[name]
	if found {
		e = s.entries[i]
	}
	return e, found
}

// set adds or replaces the entry with this name.
func (s *stagedEntries) set(name string, e oxbow.Entry) {
	if i, found := s.indexes[name]; found {
		s.entries[i] = e
		return
	}
	s.indexes[name] = len(s.entries)
	s.entries = append(s.entries, e)
}

// apply makes the change in the set.
func (s *stagedEntries) apply(op oxbow.Op) {
	old, _ := s.find(op.Target())
	s.set(op.Target(), op.ApplyTo(old))
}
