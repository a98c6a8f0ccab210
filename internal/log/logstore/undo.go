// This file implements changes that undo other changes or restore earlier versions.

package logstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/store"
)

// Revert implements [store.Historian].
func (d *DB) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	if err := d.Refresh(ctx); err != nil {
		return 0, err
	}
	if len(seqs) == 0 {
		return 0, &store.InvalidError{Field: "change", Reason: "is missing: name the changes to undo"}
	}
	seqs = slices.Clone(seqs)
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	// Read the changes before the lock is acquired, because these changes never change. Whether
	// later changes exist is checked when the undo is staged.
	type step struct {
		seq uint64
		p   loggedOp
		old *store.Version // the previous version (may be nil)
	}
	var steps []step
	for _, seq := range seqs {
		_, v, ok, err := d.readRecord(seq)
		if err != nil {
			return 0, err
		}
		if !ok {
			first, last := d.changeRange()
			return 0, store.NoChange("there is no change %d; the log holds %d to %d", seq, first, last)
		}
		if len(v.ops) == 0 {
			return 0, &store.InvalidError{
				Field:  "change",
				Value:  fmt.Sprint(seq),
				Reason: "changed no entry, so there is nothing to undo",
			}
		}
		for i, p := range v.ops {
			if p.isErased {
				return 0, store.NoChange("change %d was erased, so that nothing says what to undo", seq)
			}
			s := step{seq: seq, p: p}
			s.old, err = d.before(seq, v, v.ops[:i], p)
			if err != nil {
				return 0, err
			}
			steps = append(steps, s)
		}
	}
	r := d.commit(ctx, func(g *batch) (*body, error) {
		v := &body{reverts: seqs, note: "undo of " + joinNumbers(seqs)}
		was := map[string]*store.Entry{} // the entries before the undo (nil if the entry did not exist)
		for _, s := range slices.Backward(steps) {
			name := s.p.entry.Name
			now := g.get(name)
			if _, ours := was[name]; !ours {
				if !leftAs(now, s.p) {
					return nil, &store.ConflictError{Name: name, Want: s.seq, Have: g.lastChangeTo(name)}
				}
				was[name] = now
			}
			switch {
			case s.old != nil:
				e := d.restoredEntry(ctx, s.old)
				v.ops = append(v.ops, g.stageEntry(store.VerbRestore, &e))
			case now != nil:
				v.ops = append(v.ops, g.drop(now))
			}
		}
		v.ops = lastOfEach(v.ops, was)
		return v, g.freeRestored(v, func(name string) *store.Entry { return was[name] })
	})
	return r.seq, r.err
}

// freeRestored removes the aliases of restored entries that another entry now has, so that
// no word identifies two entries. If an entry gets its name back, the name is removed from
// the aliases of other entries, because names have precedence. before returns the entry
// that had a name before the change.
func (g *batch) freeRestored(v *body, before func(name string) *store.Entry) error {
	owner := g.indexedOwner(v)
	for _, p := range slices.Clone(v.ops) {
		if p.verb != store.VerbRestore {
			continue
		}
		var had []string
		old := before(p.entry.Name)
		if old != nil {
			had = old.Aliases
		}
		p.entry.Aliases, _ = store.FreeAliases(p.entry.Name, p.entry.Aliases, had, owner)
		if old == nil {
			g.takeName(v, p.entry.Name, owner)
		}
	}
	return g.st.readError()
}

// manyRestored is the number of operations in a change from which aliases are looked up in a table. For
// fewer operations, each lookup searches all entries.
const manyRestored = 16

// indexedOwner returns a function that is like g.owner, but is fast for changes of many
// entries.
func (g *batch) indexedOwner(v *body) func(word, but string) (string, bool) {
	if len(v.ops) < manyRestored {
		return g.owner
	}
	return g.aliasTable().owner
}

// aliasTable finds the entries of a batch by their aliases.
type aliasTable struct {
	g     *batch
	named map[string][]string // names of the entries that may have an alias
}

// aliasTable returns a table for the entries that are not in the snapshot. The snapshot has
// its own table.
func (g *batch) aliasTable() *aliasTable {
	t := &aliasTable{g, map[string][]string{}}
	add := func(e *store.Entry) {
		for _, a := range e.Aliases {
			t.named[a] = append(t.named[a], e.Name)
		}
	}
	for _, e := range g.names {
		if e != nil {
			add(e)
		}
	}
	for _, e := range g.st.order {
		if _, staged := g.names[e.Name]; !staged {
			add(e)
		}
	}
	return t
}

func (t *aliasTable) owner(word, but string) (name string, ok bool) {
	if word != but && t.g.get(word) != nil {
		return word, true
	}
	for _, name := range t.named[word] {
		e := t.g.get(name)
		if e == nil || name == but {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range t.g.st.baseWithAlias(word) {
		if _, staged := t.g.names[e.Name]; !staged && e.Name != but {
			return e.Name, true
		}
	}
	return "", false
}

// leftAs reports whether the entry still is as the op wrote it. Later changes to the entry do not
// exist, or were undone.
func leftAs(now *store.Entry, p loggedOp) bool {
	if now == nil || p.verb == store.VerbRemove {
		return now == nil && p.verb == store.VerbRemove
	}
	e := p.entry
	return now.ID == e.ID && now.Kind == e.Kind && now.Content == e.Content && now.Created.Equal(e.Created) &&
		slices.Equal(now.Aliases, e.Aliases) &&
		slices.Equal(store.WithoutTextBy(now.Labels), store.WithoutTextBy(e.Labels))
}

// lastOfEach keeps only the last of several ops on the same name, and makes it follow the
// change before the first op. If the last op is a removal, it must remove the entry in was,
// because an op in between may have restored an earlier entry with the same name and
// another ID.
func lastOfEach(ops []loggedOp, was map[string]*store.Entry) []loggedOp {
	var kept []loggedOp
	places := map[string]int{}
	for _, p := range ops {
		name := p.entry.Name
		if e := was[name]; e != nil && p.verb == store.VerbRemove {
			p.entry = &store.Entry{ID: e.ID, Name: name, Kind: e.Kind}
		}
		if i, ok := places[name]; ok {
			p.prev = kept[i].prev
			kept[i] = p
			continue
		}
		places[name] = len(kept)
		kept = append(kept, p)
	}
	return kept
}

func joinNumbers(seqs []uint64) string {
	s := strings.Trim(strings.ReplaceAll(fmt.Sprint(seqs[:min(len(seqs), 10)]), " ", ", "), "[]")
	if len(seqs) > 10 {
		s += fmt.Sprintf(", … (%d changes)", len(seqs))
	}
	return s
}

// before returns the entry's version before op p, or nil if the entry is new. ops are the
// earlier ops of the same change, whose body is in.
func (d *DB) before(seq uint64, in *body, ops []loggedOp, p loggedOp) (*store.Version, error) {
	for _, o := range slices.Backward(ops) {
		if o.entry.Name == p.entry.Name {
			if o.verb == store.VerbRemove {
				return nil, nil
			}
			v := newVersion(seq, in, o)
			return &v, nil
		}
	}
	if p.prev == 0 {
		return nil, nil
	}
	vs, err := d.versionsIn(p.prev, p.entry.Name, p.entry.ID)
	if err != nil {
		return nil, err
	}
	if first, _ := d.changeRange(); len(vs) == 0 && p.prev < first {
		// A compaction dropped the previous change, and the base does not have the entry. So the
		// entry had been removed, or was redacted.
		return nil, nil
	}
	if len(vs) == 0 {
		return nil, store.NoChange(
			"change %d cannot be undone: the version of %q before it was dropped by a compaction",
			seq,
			p.entry.Name,
		)
	}
	v := vs[len(vs)-1]
	if v.Verb == store.VerbRemove {
		return nil, nil
	}
	if v.Erased {
		return nil, store.NoChange(
			"change %d cannot be undone: the version of %q before it was erased",
			seq,
			p.entry.Name,
		)
	}
	return &v, nil
}

// Restore implements [store.Historian].
func (d *DB) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	return d.restore(ctx, name, seq, nil)
}

// RestoreIf implements [store.Historian].
func (d *DB) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return d.restore(ctx, name, seq, &version)
}

// restoredEntry returns a version's entry in the form in which the context's caller restores it.
// A person who restores a text does not become its author.
func (d *DB) restoredEntry(ctx context.Context, v *store.Version) store.Entry {
	e := v.Entry.Clone()
	if v.Source.Actor != "" { // otherwise a compaction kept the version, and the entry itself contains the source
		e.Source = v.Source
	}
	e.Labels = store.KeepTextBy(e.Labels, &e, d.source(ctx).Actor)
	return e
}

// restore restores a version. If want is not nil, the entry must have this version.
func (d *DB) restore(ctx context.Context, name string, seq uint64, want *uint64) (uint64, error) {
	if err := d.Refresh(ctx); err != nil {
		return 0, err
	}
	if _, last := d.changeRange(); seq > last {
		return 0, store.NoChange("there is no change %d yet; the last is %d", seq, last)
	}
	var found *store.Version
	for v, err := range d.Versions(ctx, name) {
		if err != nil {
			return 0, err
		}
		if v.Seq <= seq {
			found = &v
			break
		}
	}
	switch {
	case found == nil || found.Verb == store.VerbRemove:
		return 0, cmp.Or(
			d.checkHasState(seq),
			fmt.Errorf("%w as of change %d", &store.NameError{Name: name, Err: store.ErrNotFound}, seq),
		)
	case found.Erased:
		return 0, store.NoChange("version %d of %q was erased, so that nothing is left to restore", found.Seq, name)
	}
	r := d.commit(ctx, func(g *batch) (*body, error) {
		e := d.restoredEntry(ctx, found)
		v := &body{note: fmt.Sprintf("restore of %s@%d", name, found.Seq)}
		now := g.get(name)
		if want != nil {
			have := uint64(0)
			if now != nil {
				have = now.Version
			}
			if have != *want {
				return nil, &store.ConflictError{Name: name, Want: *want, Have: have}
			}
		}
		if now != nil && now.ID != e.ID {
			v.ops = append(v.ops, g.drop(now))
		}
		v.ops = append(v.ops, g.stageEntry(store.VerbRestore, &e))
		return v, g.freeRestored(v, func(string) *store.Entry { return now })
	})
	return r.seq, r.err
}
