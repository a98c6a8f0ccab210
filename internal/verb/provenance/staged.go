// This file keeps the entries that the changes of a call create or modify.

package provenance

import "github.com/oxbow-memory/oxbow"

// stagedEntries has entries by name, in the state after the changes so far.
type stagedEntries struct {
	entries []oxbow.Entry
	indexes map[string]int // by name: index in entries
}

// newStagedEntries returns an empty set with memory for the entries of this number of changes.
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

// apply changes the entry that an operation changes.
func (s *stagedEntries) apply(op oxbow.Op) {
	old, _ := s.find(op.Target())
	s.set(op.Target(), op.ApplyTo(old))
}
