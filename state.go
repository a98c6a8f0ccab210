// This file holds what a log adds up to: the entries there are now. It is the
// same whether the changes come from the file or were just made.

package oxbow

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// Op ids are remembered for at least this many changes that carried one.
const opIDWindow = 4096

// state is the entries of a store after a change. Entries are never changed in
// place: a new version is a new Entry.
type state struct {
	names  map[string]*Entry
	order  []*Entry          // by ID
	gone   map[string]uint64 // names removed, and the change that did it
	nextID uint64

	opIDs map[string]uint64 // op ids and their changes
	opLog []string          // their order, oldest first
}

func newState() *state {
	return &state{names: map[string]*Entry{}, gone: map[string]uint64{}, nextID: 1, opIDs: map[string]uint64{}}
}

// clone returns a copy; the entries are shared.
func (st *state) clone() *state {
	return &state{names: maps.Clone(st.names), order: slices.Clone(st.order), gone: maps.Clone(st.gone),
		nextID: st.nextID, opIDs: maps.Clone(st.opIDs), opLog: slices.Clone(st.opLog)}
}

// touched returns the last change that touched the name, 0 for none.
func (st *state) touched(name string) uint64 {
	if e := st.names[name]; e != nil {
		return e.Version
	}
	return st.gone[name]
}

// take implements taker.
func (st *state) take(r *wal.Record, v *body) ([]Delta, error) {
	return st.apply(r.Seq, time.Unix(0, r.Time).UTC(), v), nil
}

// apply takes in a change and returns what it did to the entries.
func (st *state) apply(seq uint64, at time.Time, v *body) []Delta {
	v.source.Time = at
	deltas := make([]Delta, 0, len(v.ops))
	for i := range v.ops {
		p := &v.ops[i]
		e := p.entry
		if e.Version == 0 { // else it is a base op, which says so itself
			e.Version, e.Updated, e.Source = seq, at, v.source
		}
		switch {
		case p.erased:
			// The version that was current then, or one that a later
			// change replaces: nothing can be said of it any more.
		case p.verb == VerbRemove:
			st.remove(e.Name, seq)
			deltas = append(deltas, Delta{ID: e.ID})
		default:
			// An undo may put an entry in the place of another of that name.
			if old := st.names[e.Name]; old != nil && old.ID != e.ID {
				deltas = append(deltas, Delta{ID: old.ID})
			}
			st.put(e)
			deltas = append(deltas, Delta{ID: e.ID, Entry: e})
		}
		st.nextID = max(st.nextID, e.ID+1)
	}
	st.nextID = max(st.nextID, v.nextID)
	if v.opID != "" {
		st.saw(v.opID, seq)
	}
	for _, s := range v.seen {
		st.saw(s.id, s.seq)
	}
	return deltas
}

func (st *state) put(e *Entry) {
	if old := st.names[e.Name]; old != nil && old.ID != e.ID {
		st.drop(old.ID)
	}
	st.names[e.Name] = e
	delete(st.gone, e.Name)
	if n := len(st.order); n == 0 || st.order[n-1].ID < e.ID {
		st.order = append(st.order, e)
		return
	}
	i, found := st.find(e.ID)
	if found {
		st.order[i] = e
	} else {
		st.order = slices.Insert(st.order, i, e)
	}
}

func (st *state) remove(name string, seq uint64) {
	st.gone[name] = seq
	if e := st.names[name]; e != nil {
		delete(st.names, name)
		st.drop(e.ID)
	}
}

func (st *state) drop(id uint64) {
	if i, found := st.find(id); found {
		st.order = slices.Delete(st.order, i, i+1)
	}
}

func (st *state) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(st.order, id, func(e *Entry, id uint64) int { return cmp.Compare(e.ID, id) })
}

func (st *state) saw(id string, seq uint64) {
	if _, ok := st.opIDs[id]; !ok {
		st.opLog = append(st.opLog, id)
	}
	st.opIDs[id] = seq
	if len(st.opLog) > 2*opIDWindow {
		for _, old := range st.opLog[:opIDWindow] {
			delete(st.opIDs, old)
		}
		st.opLog = slices.Clone(st.opLog[opIDWindow:])
	}
}
