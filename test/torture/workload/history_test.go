// The model of TestModel: every state that there ever was, in maps.

package workload_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// entries is one state.
type entries map[string]oxbow.Entry

// touch is what one op of a change did to a name.
type touch struct {
	name   string
	before *oxbow.Entry // nil: it was not there
	after  *oxbow.Entry // nil: it was removed
}

// change is one record of the log.
type change struct {
	touches []touch
	reverts []uint64
}

// history is the model. The change of number n is changes[n-1], and the state
// it left is states[n].
type history struct {
	states  []entries
	changes []change
	base    uint64 // what is before it was dropped by a compaction
	ids     uint64
	opIDs   map[string]bool
}

func newHistory() *history {
	return &history{states: []entries{{}}, opIDs: map[string]bool{}}
}

func (h *history) last() uint64 { return uint64(len(h.changes)) }
func (h *history) now() entries { return h.states[h.last()] }

// draft is a change being made.
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
	d.h.changes = append(d.h.changes, change{d.touches, reverts})
	d.h.ids = d.ids
}

// apply is Apply.
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

// version is what Versions yields of one.
type version struct {
	seq uint64
	e   *oxbow.Entry // nil: removed
}

// versions is Versions: what the log still says of a name, newest first, then
// what a compaction kept.
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

// same compares what a person would compare: all but the version.
func same(a, b *oxbow.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.ID == b.ID && a.Kind == b.Kind && a.Content == b.Content &&
		slices.Equal(a.Aliases, b.Aliases) && slices.Equal(a.Labels, b.Labels)
}

// revert is Revert of changes in ascending order.
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
	// Each name to which something is done is touched once, by what it was before
	// and is after.
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

// undoable returns the numbers of the last n changes that can be undone, the newest first.
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

// restore is Restore.
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

// compact drops what is before the change.
func (h *history) compact(base uint64) {
	d := h.draft()
	d.commit()
	h.base = base
}

// sorted returns a state as a store yields it.
func (es entries) sorted() []oxbow.Entry {
	return slices.SortedFunc(maps.Values(es), func(a, b oxbow.Entry) int { return cmp.Compare(a.ID, b.ID) })
}

// holding returns the names of the entries that hold the word.
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
