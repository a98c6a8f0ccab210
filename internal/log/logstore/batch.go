// This file implements batches, which stage changes that are not durable yet. Each change
// can be rolled back.

package logstore

import (
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// batch is a state with staged changes that are not durable yet.
type batch struct {
	st           *state
	stagedByName map[string]*store.Entry // staged entries (nil if the entry is removed)
	removedNames map[string]uint64
	opIDs        map[string]seenOpID // staged op IDs, by their keys
	nextID       uint64
	seq          uint64 // number of the change that is being staged
	changeTime   time.Time

	rollbackSteps []rollbackStep // steps that undo the change that is being staged
}

// rollbackStep contains the value that a name had in the batch before the staged change.
type rollbackStep struct {
	name      string
	entry     *store.Entry
	wasStaged bool // the batch had a staged entry with this name
	removedBy uint64
	nextID    uint64
}

// rollbackChange removes the staged change, which failed, from the batch.
func (g *batch) rollbackChange() {
	for _, u := range slices.Backward(g.rollbackSteps) {
		g.removedNames[u.name], g.nextID = u.removedBy, u.nextID
		if u.wasStaged {
			g.stagedByName[u.name] = u.entry
		} else {
			delete(g.stagedByName, u.name)
		}
	}
	g.rollbackSteps = g.rollbackSteps[:0]
}

// completeChange completes the staged change, which cannot be rolled back any more.
func (g *batch) completeChange(opID string) {
	if opID != "" {
		g.opIDs[store.OpIDKey(opID)] = seenOpID{opID, g.seq}
	}
	g.seq++
	g.rollbackSteps = g.rollbackSteps[:0]
}

// changeWithOpID returns the number of the earlier change with this op ID, or 0 if the ID is new. If
// a different call used the ID, the error is [store.ErrOpIDUsed].
func (g *batch) changeWithOpID(opID string) (uint64, error) {
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

// findEntry returns the entry with this name, or nil if the name is unknown.
func (g *batch) findEntry(name string) *store.Entry {
	if e, ok := g.stagedByName[name]; ok {
		return e
	}
	return g.st.findByName(name)
}

// lastChangeTo returns the number of the last change to an entry with this name.
func (g *batch) lastChangeTo(name string) uint64 {
	if e, ok := g.stagedByName[name]; ok {
		if e != nil {
			return e.Version
		}
		return g.removedNames[name]
	}
	return g.st.lastChangeTo(name)
}

// stageEntry stages an entry in the state after the current change.
func (g *batch) stageEntry(verb store.Verb, e *store.Entry) loggedOp {
	p := loggedOp{verb: verb, prevSeq: g.lastChangeTo(e.Name), entry: e}
	g.setEntryForName(e.Name, e)
	e.Version = g.seq // Version is temporary, because applyChange sets it again
	g.nextID = max(g.nextID, e.ID+1)
	return p
}

// stageRemoval stages the removal of an entry.
func (g *batch) stageRemoval(e *store.Entry) loggedOp {
	p := loggedOp{
		verb:    store.VerbRemove,
		prevSeq: g.lastChangeTo(e.Name),
		entry:   &store.Entry{ID: e.ID, Name: e.Name, Kind: e.Kind},
	}
	g.setEntryForName(e.Name, nil)
	return p
}

func (g *batch) setEntryForName(name string, e *store.Entry) {
	old, had := g.stagedByName[name]
	g.rollbackSteps = append(
		g.rollbackSteps,
		rollbackStep{name: name, entry: old, wasStaged: had, removedBy: g.removedNames[name], nextID: g.nextID},
	)
	g.stagedByName[name] = e
	if e == nil {
		g.removedNames[name] = g.seq
	}
}

// findOwner returns the name of an entry, other than except, that has the word as its name or
// alias.
func (g *batch) findOwner(word, except string) (name string, ok bool) {
	if word != except && g.findEntry(word) != nil {
		return word, true
	}
	for name, e := range g.stagedByName {
		if e == nil || name == except {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range g.st.entriesWithAlias(word) {
		if _, staged := g.stagedByName[e.Name]; !staged && e.Name != except {
			return e.Name, true
		}
	}
	return "", false
}

// stageOps returns a function that stages the ops of a call in a batch, and returns them as the body of a record.
func stageOps(ops []store.Op) func(g *batch) (*recordBody, error) {
	return func(g *batch) (*recordBody, error) {
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
		return v, g.st.readError()
	}
}

// stageOp stages a single op.
func (g *batch) stageOp(op store.Op) (loggedOp, error) {
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
	// copy the lists, because the originals belong to the op or to the old version
	e.Aliases = slices.Clone(e.Aliases)
	e.Labels = store.SortLabels(e.Labels)
	if isAdd {
		e.ID = g.nextID
		if e.Created.IsZero() {
			e.Created = g.changeTime
		} else {
			e.Created = e.Created.UTC().Round(0)
		}
	}
	return g.stageEntry(store.WrittenBy(op, e).Verb, &e), nil
}

// removeNameFromAliases removes a new entry's name from other entries' aliases.
func (g *batch) removeNameFromAliases(v *recordBody, name string, owner func(word, but string) (string, bool)) {
	for _, form := range store.NameForms(name) {
		g.removeWordFromAliases(v, form, name, owner)
	}
}

// removeWordFromAliases removes one spelling of the name from other entries' aliases.
func (g *batch) removeWordFromAliases(v *recordBody, word, name string, owner func(word, but string) (string, bool)) {
	for {
		other, ok := owner(word, word)
		if !ok || other == name {
			return
		}
		e := g.findEntry(other).Clone()
		e.Aliases = slices.DeleteFunc(e.Aliases, func(a string) bool { return a == word })
		if i := slices.IndexFunc(v.ops, func(p loggedOp) bool { return p.entry.Name == other }); i >= 0 {
			v.ops[i].entry.Aliases = e.Aliases // the same change writes this entry, so change its op
			continue
		}
		// Insert the op before the last op, because callers expect their own version at the end.
		v.ops = slices.Insert(v.ops, max(len(v.ops)-1, 0), g.stageEntry(store.VerbAlias, &e))
	}
}
