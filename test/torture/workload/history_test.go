// This file implements the model of TestModel. It stores every state of the entries in a map.

package workload_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// The map entries contains all entries that exist at one time. The key is the name of the entry.
type entries map[string]oxbow.Entry

// touch is the effect of an op on the entry with a name.
type touch struct {
	name   string
	before *oxbow.Entry // entry before the op (nil if there was none)
	after  *oxbow.Entry // entry after the op (nil if it was removed)
}

// undoableChange is a change in the log.
type undoableChange struct {
	touches []touch
	reverts []uint64
}

// history is the model with which a store is compared. The change with number n is changes[n-1], and the entries after
// this change are states[n]. The entries before the first change are states[0].
type history struct {
	states  []entries
	changes []undoableChange
	base    uint64 // number of the first changes that were dropped by a compaction, but remain in changes
	ids     uint64
	opIDs   map[string]bool
}

func newHistory() *history {
	return &history{states: []entries{{}}, opIDs: map[string]bool{}}
}

func (h *history) last() uint64 { return uint64(len(h.changes)) }
func (h *history) now() entries { return h.states[h.last()] }

// draft is a change that is not yet part of the history h. The map state contains the entries after the change. The
// slice touches contains the effects on single entries. The field seq is the number of the change, and ids is the last
// entry ID that was used.
type draft struct {
	h       *history
	state   entries
	touches []touch
	seq     uint64
	ids     uint64
}

func (h *history) draft() *draft {
	return &draft{h: h, state: maps.Clone(h.now()), seq: h.last() + 1, ids: h.ids}
}

func (d *draft) set(name string, e *oxbow.Entry) {
	t := touch{name: name, after: e}
	if old, ok := d.state[name]; ok {
		t.before = &old
	}
	if e == nil {
		delete(d.state, name)
	} else {
		e.Version = d.seq
		d.state[name] = *e
	}
	d.touches = append(d.touches, t)
}

func (d *draft) commit(reverts ...uint64) {
	d.h.states = append(d.h.states, d.state)
	d.h.changes = append(d.h.changes, undoableChange{d.touches, reverts})
	d.h.ids = d.ids
}

// apply makes the same change as the method Apply of a store.
func (h *history) apply(opID string, ops ...oxbow.Op) error {
	if opID != "" && h.opIDs[opID] {
		return nil
	}
	d := h.draft()
	for _, op := range ops {
		name := op.Target()
		e, there := d.state[name]
		if add, ok := op.(oxbow.Add); ok {
			if there {
				return oxbow.ErrExists
			}
			d.ids++
			d.set(name, &oxbow.Entry{ID: d.ids, Name: name, Kind: add.Kind, Content: add.Content,
				Aliases: add.Aliases, Labels: oxbow.SortLabels(add.Labels)})
			continue
		}
		if !there {
			return oxbow.ErrNotFound
		}
		var want uint64
		next := &e
		switch op := op.(type) {
		case oxbow.Update:
			want = op.If
			next.Content = op.Content
			next.Aliases = op.Aliases
			next.Labels = oxbow.SortLabels(op.Labels)
		case oxbow.Alias:
			want, next.Aliases = op.If, op.Aliases
		case oxbow.Relabel:
			want, next.Labels = op.If, oxbow.SortLabels(op.Labels)
		case oxbow.Remove:
			want, next = op.If, nil
		}
		if want != 0 && want != d.state[name].Version {
			return oxbow.ErrConflict
		}
		d.set(name, next)
	}
	if opID != "" {
		h.opIDs[opID] = true
	}
	d.commit()
	return nil
}

// version is a version of an entry, in the form in which the method Versions of a memory yields it. The field seq is
// the number of the change that wrote the version.
type version struct {
	seq uint64
	e   *oxbow.Entry // entry (nil if it was removed)
}

// versions returns the versions of the entry with the given name. A store's method Versions must return the same
// versions. First come the versions in changes after h.base, newest first. The last is the version in the state h.base,
// if the entry existed then. A compaction keeps this version and deletes older ones.
func (h *history) versions(name string) []version {
	var vs []version
	for seq := h.last(); seq > h.base; seq-- {
		for _, t := range slices.Backward(h.changes[seq-1].touches) {
			if t.name == name {
				vs = append(vs, version{seq, t.after})
			}
		}
	}
	if e, ok := h.states[h.base][name]; ok {
		vs = append(vs, version{e.Version, &e})
	}
	return vs
}

// same reports whether two entries have the same ID, kind, content, aliases and labels. Other fields, such as the name
// and the version, are ignored. If one of the entries is nil, the other must also be nil.
func same(a, b *oxbow.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.Kind == b.Kind && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

// revert does to h what the method Revert of a store does. The change numbers seqs must be ascending. revert returns
// ErrNotFound if a change does not exist, ErrInvalid if a change touched no entry, and ErrConflict if an entry was
// changed later.
func (h *history) revert(seqs ...uint64) error {
	for _, seq := range seqs {
		if seq <= h.base || seq > h.last() {
			return oxbow.ErrNotFound
		}
		if len(h.changes[seq-1].touches) == 0 {
			return oxbow.ErrInvalid
		}
	}
	d := h.draft()
	ours, done := map[string]bool{}, map[string]bool{}
	for _, seq := range slices.Backward(seqs) {
		for _, t := range slices.Backward(h.changes[seq-1].touches) {
			var now *oxbow.Entry
			if e, ok := d.state[t.name]; ok {
				now = &e
			}
			if !ours[t.name] && !same(now, t.after) {
				return oxbow.ErrConflict
			}
			ours[t.name] = true
			done[t.name] = done[t.name] || now != nil || t.before != nil
			if t.before == nil {
				delete(d.state, t.name)
			} else {
				d.state[t.name] = *t.before
			}
		}
	}
	// Record each changed name once, with its entry before and after the revert.
	back := d.state
	d.state = maps.Clone(h.now())
	for name := range ours {
		if e, there := back[name]; there {
			d.set(name, &e)
		} else if done[name] {
			d.set(name, nil)
		}
	}
	d.commit(seqs...)
	return nil
}

// undoable returns the numbers of the last changes that can be undone, the newest first. It returns at most n numbers.
func (h *history) undoable(n int) []uint64 {
	var found []uint64
	undone := map[uint64]bool{}
	for seq := h.last(); seq > h.base && len(found) < n; seq-- {
		c := h.changes[seq-1]
		switch {
		case undone[seq]:
		case len(c.reverts) > 0:
			for _, r := range c.reverts {
				undone[r] = true
			}
		case len(c.touches) > 0:
			found = append(found, seq)
		}
	}
	return found
}

// restore makes the same change as the method Restore of a store.
func (h *history) restore(name string, seq uint64) error {
	for _, v := range h.versions(name) {
		if v.seq > seq {
			continue
		}
		if v.e == nil {
			break
		}
		d := h.draft()
		e := *v.e
		if now, ok := d.state[name]; ok && now.ID != e.ID {
			d.set(name, nil)
		}
		d.set(name, &e)
		d.commit()
		return nil
	}
	return oxbow.ErrNotFound
}

// compact drops the changes up to the change with the number in the parameter base.
func (h *history) compact(base uint64) {
	d := h.draft()
	d.commit()
	h.base = base
}

// sorted returns the entries of a state in the order in which a store yields them.
func (es entries) sorted() []oxbow.Entry {
	return slices.SortedFunc(maps.Values(es), func(a, b oxbow.Entry) int { return cmp.Compare(a.ID, b.ID) })
}

// holding returns the names of the entries that contain the word.
func (es entries) holding(word string) []string {
	var names []string
	for name, e := range es {
		all := strings.Fields(e.Content)
		for _, a := range e.Aliases {
			all = append(all, strings.Fields(a)...)
		}
		if slices.Contains(all, word) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
