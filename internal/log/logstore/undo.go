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
	// Read the changes to undo before acquiring the lock. They cannot change meanwhile. Whether later changes to the
	// same entries exist is checked under the lock.
	type step struct {
		seq uint64
		p   loggedOp
		old *store.Version // version of the entry before the undone change (nil if the entry did not exist)
	}
	var steps []step
	for _, seq := range seqs {
		_, v, ok, err := d.readChangeRecord(seq)
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
			s.old, err = d.versionBefore(seq, v, v.ops[:i], p)
			if err != nil {
				return 0, err
			}
			steps = append(steps, s)
		}
	}
	r := d.commitChange(ctx, func(g *commitBatch) (*recordBody, error) {
		v := &recordBody{revertedSeqs: seqs, note: "undo of " + joinNumbers(seqs)}
		was := map[string]*store.Entry{} // entry that had each name before this undo (nil if no entry had the name)
		for _, s := range slices.Backward(steps) {
			name := s.p.entry.Name
			now := g.findEntry(name)
			if _, ours := was[name]; !ours {
				if !isUnchangedSince(now, s.p) {
					return nil, &store.ConflictError{Name: name, Want: s.seq, Have: g.lastChangeTo(name)}
				}
				was[name] = now
			}
			switch {
			case s.old != nil:
				e := d.restoredEntry(ctx, s.old)
				v.ops = append(v.ops, g.stageEntry(store.VerbRestore, &e))
			case now != nil:
				v.ops = append(v.ops, g.stageRemoval(now))
			}
		}
		v.ops = lastOpPerName(v.ops, was)
		return v, g.freeRestoredAliases(v, func(name string) *store.Entry { return was[name] })
	})
	return r.seq, r.err
}

// freeRestoredAliases makes sure that no two entries have the same name or alias after a change that restores entries.
// A restored entry loses each alias that another entry has now. If no entry had the name of a restored entry before
// the change, the name is removed from the aliases of other entries. entryBefore must return the entry that had a name
// before the change, or nil.
func (g *commitBatch) freeRestoredAliases(v *recordBody, entryBefore func(name string) *store.Entry) error {
	owner := g.ownerFinder(v)
	for _, p := range slices.Clone(v.ops) {
		if p.verb != store.VerbRestore {
			continue
		}
		var had []string
		old := entryBefore(p.entry.Name)
		if old != nil {
			had = old.Aliases
		}
		p.entry.Aliases, _ = store.FreeAliases(p.entry.Name, p.entry.Aliases, had, owner)
		if old == nil {
			g.removeNameFromAliases(v, p.entry.Name, owner)
		}
	}
	return g.st.readError()
}

// minOpsForAliasTable is the minimum number of ops in a change for which an alias table is built. For fewer ops, it is
// faster to search all entries.
const minOpsForAliasTable = 16

// ownerFinder returns a function that finds the entry with a certain name or alias, like [commitBatch.findOwner]. If
// the change has many entries, the function uses a table to be fast.
func (g *commitBatch) ownerFinder(v *recordBody) func(word, but string) (string, bool) {
	if len(v.ops) < minOpsForAliasTable {
		return g.findOwner
	}
	return g.newAliasTable().findOwner
}

// aliasTable finds the entries of a batch by their names and aliases.
type aliasTable struct {
	batch *commitBatch
	// for each alias, names of the entries that had the alias when the table was built (some may have lost it since)
	namesByAlias map[string][]string
}

// newAliasTable returns a table of the entries that are not in the snapshot. For the entries in the snapshot, the
// snapshot has a table of its own.
func (g *commitBatch) newAliasTable() *aliasTable {
	t := &aliasTable{g, map[string][]string{}}
	add := func(e *store.Entry) {
		for _, a := range e.Aliases {
			t.namesByAlias[a] = append(t.namesByAlias[a], e.Name)
		}
	}
	for _, e := range g.stagedByName {
		if e != nil {
			add(e)
		}
	}
	for _, e := range g.st.changedByID {
		if _, staged := g.stagedByName[e.Name]; !staged {
			add(e)
		}
	}
	return t
}

func (t *aliasTable) findOwner(word, except string) (name string, ok bool) {
	if word != except && t.batch.findEntry(word) != nil {
		return word, true
	}
	for _, name := range t.namesByAlias[word] {
		e := t.batch.findEntry(name)
		if e == nil || name == except {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range t.batch.st.baseEntriesWithAlias(word) {
		if _, staged := t.batch.stagedByName[e.Name]; !staged && e.Name != except {
			return e.Name, true
		}
	}
	return "", false
}

// isUnchangedSince reports whether an entry is still as the op wrote it. It is so if no later change touched the
// entry, or if all later changes were undone.
func isUnchangedSince(current *store.Entry, p loggedOp) bool {
	if current == nil || p.verb == store.VerbRemove {
		return current == nil && p.verb == store.VerbRemove
	}
	e := p.entry
	return current.ID == e.ID && current.Kind == e.Kind && current.Content == e.Content &&
		current.Created.Equal(e.Created) &&
		slices.Equal(current.Aliases, e.Aliases) &&
		slices.Equal(store.WithoutTextBy(current.Labels), store.WithoutTextBy(e.Labels))
}

// lastOpPerName returns only the last op for each name, because a change must write each name once. The op gets
// prevSeq from the name's first op, which is the change before the undo. A removal must remove the entry in
// entriesBefore: an earlier op may have restored an older entry with the same name and another ID.
func lastOpPerName(ops []loggedOp, entriesBefore map[string]*store.Entry) []loggedOp {
	var kept []loggedOp
	places := map[string]int{}
	for _, p := range ops {
		name := p.entry.Name
		if e := entriesBefore[name]; e != nil && p.verb == store.VerbRemove {
			p.entry = &store.Entry{ID: e.ID, Name: name, Kind: e.Kind}
		}
		if i, ok := places[name]; ok {
			p.prevSeq = kept[i].prevSeq
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

// versionBefore returns the version that an entry had before op p in change seq, or nil if the entry did not exist.
// changeBody is the body of the change. earlierOps are the ops before p in the change, because one of them may have
// written the entry. versionBefore fails if the earlier version was erased by a redaction or dropped by a compaction.
func (d *DB) versionBefore(
	seq uint64,
	changeBody *recordBody,
	earlierOps []loggedOp,
	p loggedOp,
) (*store.Version, error) {
	for _, o := range slices.Backward(earlierOps) {
		if o.entry.Name == p.entry.Name {
			if o.verb == store.VerbRemove {
				return nil, nil
			}
			v := newVersion(seq, changeBody, o)
			return &v, nil
		}
	}
	if p.prevSeq == 0 {
		return nil, nil
	}
	vs, err := d.versionsInChange(p.prevSeq, p.entry.Name, p.entry.ID)
	if err != nil {
		return nil, err
	}
	if first, _ := d.changeRange(); len(vs) == 0 && p.prevSeq < first {
		// A compaction has dropped the previous change, and the base does not contain the entry. Therefore the entry
		// was removed or redacted at that time.
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
	return d.restoreVersion(ctx, name, seq, nil)
}

// RestoreIf implements [store.Historian].
func (d *DB) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return d.restoreVersion(ctx, name, seq, &version)
}

// restoredEntry returns the entry to write when the caller of ctx restores a version. A person who restores a text
// does not become its author.
func (d *DB) restoredEntry(ctx context.Context, v *store.Version) store.Entry {
	e := v.Entry.Clone()
	// If the source is empty, a compaction kept the version, and the entry already contains the source.
	if v.Source.Actor != "" {
		e.Source = v.Source
	}
	e.Labels = store.KeepTextBy(e.Labels, &e, d.changeSource(ctx).Actor)
	return e
}

// restoreVersion restores the version of an entry that change seq wrote. If wantedVersion is not nil, it fails unless
// the entry has this version now.
func (d *DB) restoreVersion(ctx context.Context, name string, seq uint64, wantedVersion *uint64) (uint64, error) {
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
			d.checkHasStateAfter(seq),
			fmt.Errorf("%w as of change %d", &store.NameError{Name: name, Err: store.ErrNotFound}, seq),
		)
	case found.Erased:
		return 0, store.NoChange("version %d of %q was erased, so that nothing is left to restore", found.Seq, name)
	}
	r := d.commitChange(ctx, func(g *commitBatch) (*recordBody, error) {
		e := d.restoredEntry(ctx, found)
		v := &recordBody{note: fmt.Sprintf("restore of %s@%d", name, found.Seq)}
		now := g.findEntry(name)
		if wantedVersion != nil {
			have := uint64(0)
			if now != nil {
				have = now.Version
			}
			if have != *wantedVersion {
				return nil, &store.ConflictError{Name: name, Want: *wantedVersion, Have: have}
			}
		}
		if now != nil && now.ID != e.ID {
			v.ops = append(v.ops, g.stageRemoval(now))
		}
		v.ops = append(v.ops, g.stageEntry(store.VerbRestore, &e))
		return v, g.freeRestoredAliases(v, func(string) *store.Entry { return now })
	})
	return r.seq, r.err
}
