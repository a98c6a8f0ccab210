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
	steps, err := d.readRevertSteps(seqs)
	if err != nil {
		return 0, err
	}
	r := d.commitChange(ctx, func(g *commitBatch) (*recordBody, error) {
		v := &recordBody{revertedSeqs: seqs, note: "undo of " + joinNumbers(seqs)}
		was := map[string]*store.Entry{} // entry that had each name before this undo (nil if no entry had the name)
		for _, s := range slices.Backward(steps) {
			name := s.op.entry.Name
			now := g.findEntry(name)
			if _, ours := was[name]; !ours {
				if !isUnchangedSinceOp(now, s.op) {
					return nil, &store.ConflictError{Name: name, Want: s.seq, Have: g.lastChangeNumber(name)}
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
		v.ops = lastOpForEachName(v.ops, was)
		return v, g.resolveRestoredNameConflicts(v, func(name string) *store.Entry { return was[name] })
	})
	return r.seq, r.err
}

// revertStep is an op to revert.
type revertStep struct {
	seq uint64
	op  loggedOp
	old *store.Version // version before the change (nil if the entry did not exist)
}

// readRevertSteps returns the steps that are needed to revert the changes with the numbers in seqs, in the order of
// seqs. Each step contains an op of a change, and the version of the op's entry before the change. readRevertSteps
// fails if a change does not exist, changed no entry, or was erased, which means that its content was removed from the
// log.
func (d *DB) readRevertSteps(seqs []uint64) (steps []revertStep, err error) {
	versions := previousVersions{db: d}
	bodies := map[uint64]*recordBody{}
	for _, seq := range seqs {
		_, v, ok, err := d.readChangeRecord(seq)
		if err != nil {
			return nil, err
		}
		if !ok {
			first, last := d.changeNumberRange()
			return nil, store.NoChange("there is no change %d; the log holds %d to %d", seq, first, last)
		}
		if len(v.ops) == 0 {
			return nil, &store.InvalidError{
				Field:  "change",
				Value:  fmt.Sprint(seq),
				Reason: "changed no entry, so there is nothing to undo",
			}
		}
		bodies[seq] = v
		versions.addNames(v)
	}
	for _, seq := range seqs {
		if slices.ContainsFunc(bodies[seq].ops, func(p loggedOp) bool { return p.isContentErased }) {
			return nil, store.NoChange("change %d was erased, so that nothing says what to undo", seq)
		}
		of, err := versions.readSteps(seq, bodies[seq])
		if err != nil {
			return nil, err
		}
		steps = append(steps, of...)
	}
	return steps, nil
}

// resolveRestoredNameConflicts changes aliases, so that no two entries have the same name or alias after a change that
// restores entries. A restored entry loses each alias that is now a name or an alias of another entry. The name of a
// restored entry may have become an alias of other entries meanwhile. If so, and if no entry had this name before the
// change, these other entries lose the alias. The function entryBeforeChange must return the entry that had a name
// before the change, or nil.
func (g *commitBatch) resolveRestoredNameConflicts(
	v *recordBody,
	entryBeforeChange func(name string) *store.Entry,
) error {
	owner := g.newNameOwnerFinder(v)
	for _, p := range slices.Clone(v.ops) {
		if p.verb != store.VerbRestore {
			continue
		}
		var had []string
		old := entryBeforeChange(p.entry.Name)
		if old != nil {
			had = old.Aliases
		}
		p.entry.Aliases, _ = store.FreeAliases(p.entry.Name, p.entry.Aliases, had, owner)
		if old == nil {
			g.removeNameFromAliases(v, p.entry.Name, owner)
		}
	}
	return g.st.snapshotReadError()
}

// minOpsForAliasTable is the minimum number of ops in a change for which an alias table is built. For fewer ops, it is
// faster to search all entries.
const minOpsForAliasTable = 16

// newNameOwnerFinder returns a function that works like [commitBatch.findOwner]: it finds the entry whose name or alias
// is the first argument, and ignores the entry whose name is the second argument. If the change v has many ops, the
// function uses a table of aliases, which is faster.
func (g *commitBatch) newNameOwnerFinder(v *recordBody) func(word, but string) (string, bool) {
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

// newAliasTable returns a table that maps each alias to the names of the entries with this alias. The table contains
// the entries that the batch has written so far, and the other entries that are not in the snapshot. The snapshot has a
// table of its own for its entries.
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
	for _, e := range g.st.entriesNotInSnapshotByID {
		if _, staged := g.stagedByName[e.Name]; !staged {
			add(e)
		}
	}
	return t
}

func (t *aliasTable) findOwner(word, ignoredName string) (name string, ok bool) {
	if word != ignoredName && t.batch.findEntry(word) != nil {
		return word, true
	}
	for _, name := range t.namesByAlias[word] {
		e := t.batch.findEntry(name)
		if e == nil || name == ignoredName {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range t.batch.st.findSnapshotEntriesByAlias(word) {
		if _, staged := t.batch.stagedByName[e.Name]; !staged && e.Name != ignoredName {
			return e.Name, true
		}
	}
	return "", false
}

// isUnchangedSinceOp reports whether an entry is still as the op wrote it. It is so if no later change touched the
// entry, or if all later changes were undone.
func isUnchangedSinceOp(current *store.Entry, p loggedOp) bool {
	if current == nil || p.verb == store.VerbRemove {
		return current == nil && p.verb == store.VerbRemove
	}
	e := p.entry
	return current.ID == e.ID && current.Kind == e.Kind && current.Content == e.Content &&
		current.Created.Equal(e.Created) &&
		slices.Equal(current.Aliases, e.Aliases) &&
		slices.Equal(store.WithoutTextBy(current.Labels), store.WithoutTextBy(e.Labels))
}

// lastOpForEachName returns only the last op for each name, because a change must write each name once. The ops belong
// to an undo. In the returned op, previousChange is the number of the entry's last change before the undo. This number
// comes from the first op for the name.
//
// The map entriesBefore contains the entries as they were before the undo. If the last op removes an entry, the
// returned op removes the entry that has the name in this map. This need not be the entry that the last op names,
// because an earlier op of the undo may have restored an older entry with the same name and another ID.
func lastOpForEachName(ops []loggedOp, entriesBefore map[string]*store.Entry) []loggedOp {
	var kept []loggedOp
	places := map[string]int{}
	for _, p := range ops {
		name := p.entry.Name
		if e := entriesBefore[name]; e != nil && p.verb == store.VerbRemove {
			p.entry = &store.Entry{ID: e.ID, Name: name, Kind: e.Kind}
		}
		if i, ok := places[name]; ok {
			p.previousChange = kept[i].previousChange
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

// previousVersions reads versions that entries had before certain changes. It keeps the last decoded record, because
// the versions that consecutive ops replaced are usually in the same record. It also keeps versions from the records
// that a compaction wrote at the start of the log (the base), because reading these records takes long.
type previousVersions struct {
	db          *DB
	wantedNames map[string]bool // names of the entries whose versions are put into initialVersions

	seq           uint64 // change that was read last (0 if none)
	body          *recordBody
	opsByName     map[string][]int // indexes of the ops in body by the name of their entry
	erasedOpsByID map[uint64][]int // indexes of the erased ops in body by the ID of their entry
	// versions, by entry name, that the last compaction wrote at the start of the log (nil until they are needed)
	initialVersions map[string]store.Version
}

// addNames adds the names of the entries that the change v wrote to r.wantedNames. A caller that examines several
// changes should call addNames for each change before it reads a version. The records at the start of a compacted log
// contain the initial versions of all entries, but r caches only the versions of the wanted names. Each new name
// empties this cache, so that these records must be read again.
func (r *previousVersions) addNames(v *recordBody) {
	if r.wantedNames == nil {
		r.wantedNames = map[string]bool{}
	}
	for _, p := range v.ops {
		if !r.wantedNames[p.entry.Name] {
			r.wantedNames[p.entry.Name] = true
			r.initialVersions = nil
		}
	}
}

// readSteps returns the ops of a change, each with the version that its entry had before the op. v is the body of the
// change.
func (r *previousVersions) readSteps(seq uint64, v *recordBody) ([]revertStep, error) {
	r.addNames(v)
	steps := make([]revertStep, len(v.ops))
	earlierOps := map[string]*loggedOp{} // for each name, the previous op of this change
	for i := range v.ops {
		p := &v.ops[i]
		steps[i] = revertStep{seq: seq, op: *p}
		if earlier := earlierOps[p.entry.Name]; earlier == nil {
			old, err := r.readVersionBefore(seq, p)
			if err != nil {
				return nil, err
			}
			steps[i].old = old
		} else if earlier.verb != store.VerbRemove {
			was := newVersion(seq, v, *earlier)
			steps[i].old = &was
		}
		earlierOps[p.entry.Name] = p
	}
	return steps, nil
}

// readVersionBefore returns the version that an entry had before the op p. An op is the part of a change that concerns
// one entry, and p belongs to the change with the number seq. No earlier op of this change may concern the same entry.
// The returned version is nil if the entry did not exist before p. readVersionBefore returns an error if the version
// was erased, or if the entry's previous change is still in the log but its version of the entry was dropped by a
// compaction of the log.
func (r *previousVersions) readVersionBefore(seq uint64, p *loggedOp) (*store.Version, error) {
	if p.previousChange == 0 {
		return nil, nil
	}
	vs, err := r.versionsInChange(p.previousChange, p.entry.Name, p.entry.ID)
	if err != nil {
		return nil, err
	}
	if first, _ := r.db.changeNumberRange(); len(vs) == 0 && p.previousChange < first {
		// A compaction has dropped the previous change, and did not keep a version of the entry. Therefore the entry
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

// versionsInChange returns the versions that the change with the number seq wrote of one entry, like
// [DB.versionsInChange]. The result contains the versions with the entry's name, and the versions with the entry's ID
// whose content was erased. The record that was read last is cached in r.
func (r *previousVersions) versionsInChange(seq uint64, name string, id uint64) (vs []store.Version, err error) {
	if r.seq != seq {
		if err := r.readChange(seq); err != nil {
			return nil, err
		}
	}
	if r.body == nil {
		v, ok, err := r.readInitialVersion(name)
		if ok && v.Seq == seq {
			vs = append(vs, v)
		}
		return vs, err
	}
	indexes := slices.Concat(r.opsByName[name], r.erasedOpsByID[id])
	slices.Sort(indexes)
	for _, i := range indexes {
		v := newVersion(seq, r.body, r.body.ops[i])
		v.Entry.Name = name
		vs = append(vs, v)
	}
	return vs, nil
}

// readChange reads a change. If the log does not contain the change, r.body is nil.
func (r *previousVersions) readChange(seq uint64) error {
	_, v, ok, err := r.db.readChangeRecord(seq)
	if err != nil {
		return err
	}
	r.seq, r.body = seq, nil
	r.opsByName, r.erasedOpsByID = map[string][]int{}, map[uint64][]int{}
	if !ok {
		return nil
	}
	r.body = v
	for i, p := range v.ops {
		if !p.isContentErased {
			r.opsByName[p.entry.Name] = append(r.opsByName[p.entry.Name], i)
		} else if p.entry.ID != 0 {
			r.erasedOpsByID[p.entry.ID] = append(r.erasedOpsByID[p.entry.ID], i)
		}
	}
	return nil
}

// readInitialVersion returns the version of an entry that the last compaction wrote at the start of the log (the base).
// ok is false if the base does not contain the entry. The name must have been added with addNames. The first call
// reads the whole base.
func (r *previousVersions) readInitialVersion(name string) (v store.Version, ok bool, err error) {
	if r.initialVersions == nil {
		r.initialVersions = map[string]store.Version{}
		err = r.db.eachBaseEntry(func(_ int64, p loggedOp) {
			if r.wantedNames[p.entry.Name] {
				r.initialVersions[p.entry.Name] = newBaseVersion(p)
			}
		})
	}
	v, ok = r.initialVersions[name]
	return v, ok, err
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
	e.Labels = store.KeepTextBy(e.Labels, &e, d.sourceForChange(ctx).Actor)
	return e
}

// restoreVersion restores the version that the entry had after the change seq. It returns the number of the new change.
// If wantedVersion is not nil, and the present version of the entry is another version, the error is a
// [store.ConflictError]. If the entry did not exist after the change seq, the error matches [store.ErrNotFound].
func (d *DB) restoreVersion(ctx context.Context, name string, seq uint64, wantedVersion *uint64) (uint64, error) {
	if err := d.Refresh(ctx); err != nil {
		return 0, err
	}
	if _, last := d.changeNumberRange(); seq > last {
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
		return v, g.resolveRestoredNameConflicts(v, func(string) *store.Entry { return now })
	})
	return r.seq, r.err
}
