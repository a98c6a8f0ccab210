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
	st     *state
	names  map[string]*store.Entry // staged entries (nil if the entry is removed)
	gone   map[string]uint64
	opIDs  map[string]seenID // staged op IDs, by their keys
	nextID uint64
	seq    uint64 // number of the change that is being staged
	now    time.Time

	undo []rollbackStep // steps that undo the change that is being staged
}

// rollbackStep contains the value that a name had in the batch before the staged change.
type rollbackStep struct {
	name      string
	entry     *store.Entry
	wasStaged bool // the batch had a staged entry with this name
	gone      uint64
	nextID    uint64
}

// rollback removes the staged change, which failed, from the batch.
func (g *batch) rollback() {
	for _, u := range slices.Backward(g.undo) {
		g.gone[u.name], g.nextID = u.gone, u.nextID
		if u.wasStaged {
			g.names[u.name] = u.entry
		} else {
			delete(g.names, u.name)
		}
	}
	g.undo = g.undo[:0]
}

// commit completes the staged change, which cannot be rolled back any more.
func (g *batch) commit(opID string) {
	if opID != "" {
		g.opIDs[store.OpIDKey(opID)] = seenID{opID, g.seq}
	}
	g.seq++
	g.undo = g.undo[:0]
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

// get returns the entry with this name, or nil if the name is unknown.
func (g *batch) get(name string) *store.Entry {
	if e, ok := g.names[name]; ok {
		return e
	}
	return g.st.find(name)
}

// lastChangeTo returns the number of the last change to an entry with this name.
func (g *batch) lastChangeTo(name string) uint64 {
	if e, ok := g.names[name]; ok {
		if e != nil {
			return e.Version
		}
		return g.gone[name]
	}
	return g.st.lastChangeTo(name)
}

// stageEntry stages an entry in the state after the current change.
func (g *batch) stageEntry(verb store.Verb, e *store.Entry) loggedOp {
	p := loggedOp{verb: verb, prev: g.lastChangeTo(e.Name), entry: e}
	g.setName(e.Name, e)
	e.Version = g.seq // Version is temporary, because apply sets it again
	g.nextID = max(g.nextID, e.ID+1)
	return p
}

// drop stages the removal of an entry.
func (g *batch) drop(e *store.Entry) loggedOp {
	p := loggedOp{
		verb:  store.VerbRemove,
		prev:  g.lastChangeTo(e.Name),
		entry: &store.Entry{ID: e.ID, Name: e.Name, Kind: e.Kind},
	}
	g.setName(e.Name, nil)
	return p
}

func (g *batch) setName(name string, e *store.Entry) {
	old, had := g.names[name]
	g.undo = append(g.undo, rollbackStep{name: name, entry: old, wasStaged: had, gone: g.gone[name], nextID: g.nextID})
	g.names[name] = e
	if e == nil {
		g.gone[name] = g.seq
	}
}

// owner returns the name of an entry, other than but, that has the word as its name or
// alias.
func (g *batch) owner(word, but string) (name string, ok bool) {
	if word != but && g.get(word) != nil {
		return word, true
	}
	for name, e := range g.names {
		if e == nil || name == but {
			continue
		}
		if slices.Contains(e.Aliases, word) {
			return name, true
		}
	}
	for _, e := range g.st.withAlias(word) {
		if _, staged := g.names[e.Name]; !staged && e.Name != but {
			return e.Name, true
		}
	}
	return "", false
}

// stageOps returns a function that stages the ops of a call in a batch, and returns them as the body of a record.
func stageOps(ops []store.Op) func(g *batch) (*body, error) {
	return func(g *batch) (*body, error) {
		v := new(body)
		for _, op := range ops {
			p, err := g.stageOp(op)
			if err != nil {
				return nil, err
			}
			v.ops = append(v.ops, p)
			if add, ok := op.(store.Add); ok && add.UniqueAliases {
				g.takeName(v, add.Name, g.owner)
			}
		}
		return v, g.st.readError()
	}
}

// stageOp stages a single op.
func (g *batch) stageOp(op store.Op) (loggedOp, error) {
	name := op.Target()
	old := g.get(name)
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
	if err := store.CheckAliases(op, e.Aliases, g.owner); err != nil {
		return loggedOp{}, err
	}
	if _, isRemove := op.(store.Remove); isRemove {
		return g.drop(old), nil
	}
	e = op.ApplyTo(e)
	// copy the lists, because the originals belong to the op or to the old version
	e.Aliases = slices.Clone(e.Aliases)
	e.Labels = store.SortLabels(e.Labels)
	if isAdd {
		e.ID = g.nextID
		if e.Created.IsZero() {
			e.Created = g.now
		} else {
			e.Created = e.Created.UTC().Round(0)
		}
	}
	return g.stageEntry(store.WrittenBy(op, e).Verb, &e), nil
}

// takeName removes a new entry's name from other entries' aliases.
func (g *batch) takeName(v *body, name string, owner func(word, but string) (string, bool)) {
	for _, form := range store.NameForms(name) {
		g.takeWord(v, form, name, owner)
	}
}

// takeWord removes one spelling of the name from other entries' aliases.
func (g *batch) takeWord(v *body, word, name string, owner func(word, but string) (string, bool)) {
	for {
		other, ok := owner(word, word)
		if !ok || other == name {
			return
		}
		e := g.get(other).Clone()
		e.Aliases = slices.DeleteFunc(e.Aliases, func(a string) bool { return a == word })
		if i := slices.IndexFunc(v.ops, func(p loggedOp) bool { return p.entry.Name == other }); i >= 0 {
			v.ops[i].entry.Aliases = e.Aliases // the same change writes this entry, so change its op
			continue
		}
		// Insert the op before the last op, because callers expect their own version at the end.
		v.ops = slices.Insert(v.ops, max(len(v.ops)-1, 0), g.stageEntry(store.VerbAlias, &e))
	}
}
