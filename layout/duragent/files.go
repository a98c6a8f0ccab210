// This file implements the backend "filesystem", which stores entries in a tree of files. The files have places only
// for some kinds of entries. The backend also accepts entries of other kinds, and stores such an entry under another
// kind.

package duragent

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// agentFileStore is the store for the files of one agent and for the facts that all agents share (the world).
type agentFileStore struct{ *mdtree.Store }

// Capabilities returns the optional interfaces of the store, for [oxbow.CapabilitiesOf]. The store s implements
// Committer and DryRunner with its own methods, because these methods must first convert changes to a form that
// duragent's files can represent. All other interfaces come from s.Store.
func (s agentFileStore) Capabilities() oxbow.Capabilities {
	base := oxbow.CapabilitiesOf(s.Store)
	return oxbow.Capabilities{Watcher: base.Watcher, Counter: base.Counter, Checker: base.Checker, Committer: s,
		DryRunner: s}
}

// Apply implements [oxbow.Store].
func (s agentFileStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	ops, err := toStorableOps(ops)
	if err == nil {
		err = s.Store.Apply(ctx, ops...)
	}
	return err
}

// Commit implements [oxbow.Committer].
func (s agentFileStore) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	ops, err := toStorableOps(ops)
	if err != nil {
		return oxbow.Change{}, err
	}
	return s.Store.Commit(ctx, ops...)
}

// DryRun implements [oxbow.DryRunner].
func (s agentFileStore) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	ops, err := toStorableOps(ops)
	if err == nil {
		err = s.Store.DryRun(ctx, ops...)
	}
	return err
}

// toStorableOps returns a copy of ops in which every added entry can be stored by the layout with any backend. Only
// entries of the kind World (a fact about the world) can have any name. Therefore an added note becomes an entry of the
// kind World, unless its name belongs to one of the agent's own entries. toStorableOps returns an error if an op is
// invalid, or if the layout cannot store the entry that results from the op.
func toStorableOps(ops []oxbow.Op) ([]oxbow.Op, error) {
	kept := make([]oxbow.Op, len(ops))
	for i, op := range ops {
		if err := op.Check(); err != nil {
			return nil, err
		}
		add, isAdd := op.(oxbow.Add)
		if isAdd && add.Kind == oxbow.Note && !isAgentsOwnEntry(add.Name) {
			add.Kind = oxbow.World
			op = add
		}
		if err := checkChange(op); err != nil {
			return nil, err
		}
		kept[i] = op
	}
	return kept, nil
}
