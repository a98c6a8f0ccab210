// This file implements batches. A batch stages several changes on top of the state before they are written. A change
// that fails can be rolled back alone.

package logstore

import (
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// commitBatch is the state with staged changes on top of it. The staged changes are not durable yet.
type commitBatch struct {
	st *state
	// entries that staged changes write, by name (nil if a staged change removes the entry)
	stagedByName map[string]*store.Entry
	removedNames map[string]uint64
	// op IDs of the staged changes, each with its change; the key is the ID's digest
	opIDs       map[string]opIDWithChange
	nextEntryID uint64
	seq         uint64 // number of the change that is staged now
	changeTime  time.Time

	rollbackSteps []stagedNameBackup // steps that remove the change that is staged now, if it fails
}

// stagedNameBackup contains what the batch had stored for a name before the change that is staged now. If the change
// fails, the batch restores the content of this backup.
type stagedNameBackup struct {
	name                string
	stagedEntry         *store.Entry
	wasStaged           bool // The batch had an entry or a removal for this name.
	removalChangeNumber uint64
	nextEntryID         uint64
}

// rollbackChange removes the change that is staged now from the batch, because it has failed.
func (g *commitBatch) rollbackChange() {
	for _, u := range slices.Backward(g.rollbackSteps) {
		g.removedNames[u.name], g.nextEntryID = u.removalChangeNumber, u.nextEntryID
		if u.wasStaged {
			g.stagedByName[u.name] = u.stagedEntry
		} else {
			delete(g.stagedByName, u.name)
		}
	}
	g.rollbackSteps = g.rollbackSteps[:0]
}

// completeStagedChange ends the staging of a change that was staged without an error. It remembers the change's op ID,
// unless opID is "". The change can no longer be rolled back, and the next staged change gets the next number.
func (g *commitBatch) completeStagedChange(opID string) {
	if opID != "" {
		g.opIDs[store.OpIDKey(opID)] = opIDWithChange{opID, g.seq}
	}
	g.seq++
	g.rollbackSteps = g.rollbackSteps[:0]
}

// changeWithOpID returns the number of the earlier change that was made with opID. It returns 0 if opID is "" or if no
// change was made with opID. An op ID identifies a call and its arguments. If the call was already made with different
// arguments, the stored ID has the same [store.OpIDKey] but is not equal to opID. The error is then
// [store.ErrOpIDUsed].
func (g *commitBatch) changeWithOpID(opID string) (uint64, error) {
	if opID == "" {
		return 0, nil
	}
	key := store.OpIDKey(opID)
	was, ok := g.opIDs[key]
	if !ok {
		was, ok = g.st.opIDs[key]
	}
	if ok && was.id != opID {
		return 0, store.ErrOpIDUsed
	}
	return was.seq, nil
}

// findEntry returns the entry with this name, including staged changes, or nil if no entry has this name.
func (g *commitBatch) findEntry(name string) *store.Entry {
	if e, ok := g.stagedByName[name]; ok {
		return e
	}
	return g.st.findByName(name)
}

// lastChangeNumber returns the number of the last change that wrote or removed an entry with this name. Staged changes
// count as well.
func (g *commitBatch) lastChangeNumber(name string) uint64 {
	if e, ok := g.stagedByName[name]; ok {
		if e != nil {
			return e.Version
		}
		return g.removedNames[name]
	}
	return g.st.lastChangeNumber(name)
}

// stageEntry stages that an entry is added or changed, and returns the op that writes the entry. It sets e.Version.
func (g *commitBatch) stageEntry(verb store.Verb, e *store.Entry) loggedOp {
	p := loggedOp{verb: verb, previousChange: g.lastChangeNumber(e.Name), entry: e}
	g.setEntryForName(e.Name, e)
	e.Version = g.seq // This version number is only temporary, because applyChange sets the final one.
	g.nextEntryID = max(g.nextEntryID, e.ID+1)
	return p
}

// stageRemoval stages the removal of an entry, and returns the op that removes it.
func (g *commitBatch) stageRemoval(e *store.Entry) loggedOp {
	p := loggedOp{
		verb:           store.VerbRemove,
		previousChange: g.lastChangeNumber(e.Name),
		entry:          &store.Entry{ID: e.ID, Name: e.Name, Kind: e.Kind},
	}
	g.setEntryForName(e.Name, nil)
	return p
}

func (g *commitBatch) setEntryForName(name string, e *store.Entry) {
	old, had := g.stagedByName[name]
	g.rollbackSteps = append(
		g.rollbackSteps,
		stagedNameBackup{
			name:                name,
			stagedEntry:         old,
			wasStaged:           had,
			removalChangeNumber: g.removedNames[name],
			nextEntryID:         g.nextEntryID,
		},
	)
	g.stagedByName[name] = e
	if e == nil {
		g.removedNames[name] = g.seq
	}
}

// findOwner searches for an entry whose name is equal to the parameter word, or that has this word as an alias. It
// returns the name of the entry. The entry with the name ignoredName is ignored. The result ok is false if no entry is
// found. Entries that this batch changes are examined as they will be after the change.
func (g *commitBatch) findOwner(word, ignoredName string) (name string, ok bool) {
	if word != ignoredName && g.findEntry(word) != nil {
		return word, true
	}
	for name, e := range g.stagedByName {
		if e == nil || name == ignoredName {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range g.st.entriesWithAlias(word) {
		if _, staged := g.stagedByName[e.Name]; !staged && e.Name != ignoredName {
			return e.Name, true
		}
	}
	return "", false
}

// stageOps returns a function that adds the ops of one call to a batch of changes that are written together. The
// function returns the body of the record to write. If an op adds an entry with unique aliases, the function also
// removes the entry's name from the aliases of other entries.
func stageOps(ops []store.Op) func(g *commitBatch) (*recordBody, error) {
	return func(g *commitBatch) (*recordBody, error) {
		v := new(recordBody)
		for _, op := range ops {
			p, err := g.stageOp(op)
			if err != nil {
				return nil, err
			}
			v.ops = append(v.ops, p)
			if add, ok := op.(store.Add); ok && add.UniqueAliases {
				g.removeNameFromAliases(v, add.Name, g.findOwner)
			}
		}
		return v, g.st.snapshotReadError()
	}
}

// stageOp applies an op to the state of the batch, and returns the change of the entry that must be written to the log.
// Nothing is written yet. stageOp returns a NameError if the op adds an entry that exists, or changes an entry that
// does not exist. It returns a ConflictError if the op requires another version of the entry. It also returns an error
// if the op's aliases are not allowed.
func (g *commitBatch) stageOp(op store.Op) (loggedOp, error) {
	name := op.Target()
	old := g.findEntry(name)
	_, isAdd := op.(store.Add)
	if isAdd && old != nil {
		return loggedOp{}, &store.NameError{Name: name, Err: store.ErrExists}
	}
	if !isAdd && old == nil {
		return loggedOp{}, &store.NameError{Name: name, Err: store.ErrNotFound}
	}
	var e store.Entry
	if old != nil {
		if want := op.IfVersion(); want != 0 && want != old.Version {
			return loggedOp{}, &store.ConflictError{Name: name, Want: want, Have: old.Version}
		}
		e = *old
	}
	if err := store.CheckAliases(op, e.Aliases, g.findOwner); err != nil {
		return loggedOp{}, err
	}
	if _, isRemove := op.(store.Remove); isRemove {
		return g.stageRemoval(old), nil
	}
	e = op.ApplyTo(e)
	// Copy the lists, because the original lists belong to the op or to the previous version.
	e.Aliases = slices.Clone(e.Aliases)
	e.Labels = store.SortLabels(e.Labels)
	if isAdd {
		e.ID = g.nextEntryID
		if e.Created.IsZero() {
			e.Created = g.changeTime
		} else {
			e.Created = e.Created.UTC().Round(0)
		}
	}
	return g.stageEntry(store.WrittenBy(op, e).Verb, &e), nil
}

// removeNameFromAliases adds ops to the record v that remove the name of a new entry from the aliases of other entries.
// The parameter name is the new entry's name. Aliases that are another spelling of this name are removed as well. The
// function owner returns the entry that has a given word as a name or alias.
func (g *commitBatch) removeNameFromAliases(v *recordBody, name string, owner func(word, but string) (string, bool)) {
	for _, form := range store.NameForms(name) {
		g.removeWordFromAliases(v, form, name, owner)
	}
}

// removeWordFromAliases removes word, which is one spelling of the entry name, from other entries' aliases.
func (g *commitBatch) removeWordFromAliases(
	v *recordBody,
	word, name string,
	owner func(word, but string) (string, bool),
) {
	for {
		other, ok := owner(word, word)
		if !ok || other == name {
			return
		}
		e := g.findEntry(other).Clone()
		e.Aliases = slices.DeleteFunc(e.Aliases, func(a string) bool { return a == word })
		if i := slices.IndexFunc(v.ops, func(p loggedOp) bool { return p.entry.Name == other }); i >= 0 {
			v.ops[i].entry.Aliases = e.Aliases // The same change already writes this entry, so edit its op.
			continue
		}
		// Insert the op before the last op, because callers expect that the last op belongs to the entry that they
		// changed.
		v.ops = slices.Insert(v.ops, max(len(v.ops)-1, 0), g.stageEntry(store.VerbAlias, &e))
	}
}
