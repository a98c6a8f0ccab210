// This file implements the model of a store. The model contains the entries, and the effect of each change, so that
// changes can be undone. The model follows the documented behaviour of a store, and not its code.

package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// StoreModel is the expected content of a store. The zero Model is an empty store.
type StoreModel struct {
	entries         map[string]oxbow.Entry // entries by name (the map is never modified)
	assignedIDCount uint64                 // number of entry IDs that were assigned so far
	seq             uint64                 // number of the store's last change
	lastCompaction  uint64                 // number of the last change that was a compaction
	changes         []undoableChange       // changes of the store that can be undone, oldest first
	opIDs           map[string]bool
}

// undoableChange is the effect of a change on each name: the entry before the change and the entry after it. Each is
// nil if the entry does not exist.
type undoableChange struct {
	seq           uint64
	entriesBefore map[string]*oxbow.Entry
	entriesAfter  map[string]*oxbow.Entry
}

func (m *StoreModel) Clone() *StoreModel {
	c := *m
	c.entries = maps.Clone(m.entries)
	c.changes = slices.Clone(m.changes)
	c.opIDs = maps.Clone(m.opIDs)
	return &c
}

// LastSeq returns the number of the last change.
func (m *StoreModel) LastSeq() uint64 { return m.seq }

// AssignedIDCount returns the number of entry IDs that were assigned so far.
func (m *StoreModel) AssignedIDCount() uint64 { return m.assignedIDCount }

// Entries returns the expected entries of the store, ordered by ID. Their times and sources are not set.
func (m *StoreModel) Entries() []oxbow.Entry {
	return slices.SortedFunc(maps.Values(m.entries), func(a, b oxbow.Entry) int { return cmp.Compare(a.ID, b.ID) })
}

// ApplyOps makes a change. If it returns an error, nothing is changed. If the op ID was used before, nothing is
// changed, and it returns nil.
func (m *StoreModel) ApplyOps(opID string, ops ...oxbow.Op) error {
	if opID != "" && m.opIDs[opID] {
		return nil
	}
	next := m.Clone()
	next.seq++
	c := next.copyEntries()
	for _, op := range ops {
		if err := next.applyOp(op); err != nil {
			return err
		}
	}
	next.recordChange(c, ops...)
	if opID != "" {
		if next.opIDs == nil {
			next.opIDs = map[string]bool{}
		}
		next.opIDs[opID] = true
	}
	*m = *next
	return nil
}

// copyEntries returns a copy of the entries. recordChange needs them as they were before a change.
func (m *StoreModel) copyEntries() map[string]oxbow.Entry {
	if m.entries == nil {
		m.entries = map[string]oxbow.Entry{}
	}
	return maps.Clone(m.entries)
}

// recordChange records, for each name in ops, the entry before and after the change, so that the change can be undone.
func (m *StoreModel) recordChange(before map[string]oxbow.Entry, ops ...oxbow.Op) {
	c := undoableChange{m.seq, map[string]*oxbow.Entry{}, map[string]*oxbow.Entry{}}
	for _, op := range ops {
		name := op.Target()
		c.entriesBefore[name], c.entriesAfter[name] = entryOrNil(before, name), entryOrNil(m.entries, name)
	}
	m.changes = append(slices.Clip(m.changes), c)
}

func entryOrNil(es map[string]oxbow.Entry, name string) *oxbow.Entry {
	if e, ok := es[name]; ok {
		return &e
	}
	return nil
}

func (m *StoreModel) applyOp(op oxbow.Op) error {
	name := op.Target()
	e, there := m.entries[name]
	if add, ok := op.(oxbow.Add); ok {
		if there {
			return oxbow.ErrExists
		}
		m.assignedIDCount++
		m.entries[name] = oxbow.Entry{ID: m.assignedIDCount, Name: name, Kind: add.Kind, Content: add.Content,
			Aliases: add.Aliases, Labels: oxbow.SortLabels(add.Labels), Version: m.seq}
		return nil
	}
	if !there {
		return oxbow.ErrNotFound
	}
	var want uint64
	switch op := op.(type) {
	case oxbow.Update:
		want = op.If
		e.Content = op.Content
		e.Aliases = op.Aliases
		e.Labels = oxbow.SortLabels(op.Labels)
	case oxbow.Alias:
		want, e.Aliases = op.If, op.Aliases
	case oxbow.Relabel:
		want, e.Labels = op.If, oxbow.SortLabels(op.Labels)
	case oxbow.Remove:
		want = op.If
	default:
		panic(fmt.Sprintf("op %T outside the sealed set", op))
	}
	if want != 0 && want != m.entries[name].Version {
		return oxbow.ErrConflict
	}
	if _, ok := op.(oxbow.Remove); ok {
		delete(m.entries, name)
		return nil
	}
	e.Version = m.seq
	m.entries[name] = e
	return nil
}

// RememberEntry adds or changes an entry in the same way as [oxbow.Memory.Remember].
func (m *StoreModel) RememberEntry(name, text string) error {
	if e, ok := m.entries[name]; ok {
		return m.ApplyOps("", oxbow.Update{Name: name, Content: text, Aliases: e.Aliases, Labels: e.Labels})
	}
	return m.ApplyOps("", oxbow.Add{Name: name, Content: text})
}

// LastUndoableSeq returns the number of the last change that can be undone without a conflict, or 0.
func (m *StoreModel) LastUndoableSeq() uint64 {
	if n := len(m.changes); n > 0 {
		return m.changes[n-1].seq
	}
	return 0
}

// UndoChange undoes the change with the number seq, which must be the number that LastUndoableSeq returns. The undo is
// itself a change that can be undone.
func (m *StoreModel) UndoChange(seq uint64) error {
	n := len(m.changes)
	if n == 0 || m.changes[n-1].seq != seq {
		return oxbow.ErrConflict
	}
	c := m.changes[n-1]
	next := m.Clone()
	next.seq++
	for name, e := range c.entriesBefore {
		if e == nil {
			delete(next.entries, name)
			continue
		}
		back := *e
		back.Version = next.seq
		next.entries[name] = back
	}
	next.changes = append(slices.Clip(next.changes), undoableChange{next.seq, c.entriesAfter, c.entriesBefore})
	*m = *next
	return nil
}

// RecordCompaction records a compaction, which is a change that affects no entry. From then on, the model contains no
// earlier change that can be undone. Therefore the model need not know how much history the compaction has dropped.
func (m *StoreModel) RecordCompaction() {
	m.seq++
	m.lastCompaction = m.seq
	m.changes = nil
}
