// This file implements the backend "oxbow", which stores entries in a store of oxbow instead of files. By default, one
// store contains the entries of all agents and the facts that all agents share (the world). Each agent sees only its
// own part of the store.

package duragent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// scopedStore shows one agent's part of a store that contains the entries of all agents: the agent's own entries, and
// the facts about the world. In the store, the names of an agent's own entries begin with agents/NAME/. scopedStore
// removes this prefix, so that an entry has the same name as if it were stored in the agent's files. The names of facts
// never begin with this prefix.
type scopedStore struct {
	memory      *oxbow.Memory // the store with the entries of all agents; its index is not used
	agentPrefix string        // beginning of the agent's own entry names, such as "agents/rei/"
}

// Capabilities returns the optional interfaces of the store, for [oxbow.CapabilitiesOf]. It offers the capabilities of
// the underlying store, restricted to the agent's entries. Checks and compactions concern the whole file. Redaction is
// not offered, because it would reach the entries of other agents.
func (s *scopedStore) Capabilities() oxbow.Capabilities {
	base := oxbow.CapabilitiesOf(s.memory.Store())
	c := oxbow.Capabilities{Checker: base.Checker, Compactor: base.Compactor, DryRunner: s}
	if base.Committer != nil {
		c.Committer = s
	}
	if base.Watcher != nil {
		c.Watcher = s
	}
	if base.Historian != nil {
		c.Historian = s
	}
	if base.Counter != nil {
		c.Counter = s
	}
	return c
}

// nameInStore returns the name that the agent's entry has in the store, which several agents share.
func (s *scopedStore) nameInStore(name string) string {
	if isAgentsOwnEntry(name) {
		return s.agentPrefix + name
	}
	return name
}

// agentName returns the name under which the agent sees an entry of the store that several agents share. It returns
// false if the agent must not see the entry.
func (s *scopedStore) agentName(name string) (string, bool) {
	if own, ok := strings.CutPrefix(name, s.agentPrefix); ok && isAgentsOwnEntry(own) {
		return own, true
	}
	return name, !strings.HasPrefix(name, agentsPrefix)
}

func (s *scopedStore) toAgentEntry(e oxbow.Entry) (oxbow.Entry, bool) {
	name, ok := s.agentName(e.Name)
	e.Name = name
	return e, ok
}

func (s *scopedStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if strings.HasPrefix(name, agentsPrefix) {
		return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	e, err := s.memory.GetNamed(ctx, s.nameInStore(name))
	if err != nil {
		return oxbow.Entry{}, s.toAgentError(err)
	}
	e, _ = s.toAgentEntry(e)
	return e, nil
}

func (s *scopedStore) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range s.memory.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			e, isShown := s.toAgentEntry(e)
			if !isShown || !f.Match(&e) {
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Apply implements [oxbow.Store]. It applies the ops with Commit. Commit refuses changes that could not be stored as
// files, so that a person can later change the memory backend of the home to "filesystem".
func (s *scopedStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.Commit(ctx, ops...)
	return err
}

// Commit implements [oxbow.Committer].
func (s *scopedStore) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	ops, err := toStorableVisibleOps(ops)
	if err != nil {
		return oxbow.Change{}, err
	}
	for i, op := range ops {
		switch op := op.(type) {
		case oxbow.Add:
			op.Name = s.nameInStore(op.Name)
			ops[i] = op
		case oxbow.Update:
			op.Name = s.nameInStore(op.Name)
			ops[i] = op
		case oxbow.Remove:
			op.Name = s.nameInStore(op.Name)
			ops[i] = op
		}
	}
	c, err := s.memory.Commit(ctx, ops...)
	if err != nil {
		return oxbow.Change{}, s.toAgentError(err)
	}
	return s.toAgentChange(c), nil
}

// toAgentChange returns the part of a change that the agent may see. It contains only the versions of entries that the
// agent may see, under the names that the agent uses for them.
func (s *scopedStore) toAgentChange(c oxbow.Change) oxbow.Change {
	all := c.Versions
	c.Versions = nil
	for _, v := range all {
		if e, ok := s.toAgentEntry(v.Entry); ok {
			v.Entry = e
			c.Versions = append(c.Versions, v)
		}
	}
	return c
}

// DryRun implements [oxbow.DryRunner]. It only checks whether the layout can store the changes, and whether the agent
// may change these entries.
func (s *scopedStore) DryRun(_ context.Context, ops ...oxbow.Op) error {
	_, err := toStorableVisibleOps(ops)
	return err
}

// toStorableVisibleOps returns a copy of ops that can be stored (see toStorableOps). If an op names an entry whose name
// begins with agentsPrefix, the error matches [oxbow.ErrNotFound]. Such names belong to the store, which adds the
// prefix to the names of an agent's own entries. Agents use the names without the prefix.
func toStorableVisibleOps(ops []oxbow.Op) ([]oxbow.Op, error) {
	ops, err := toStorableOps(ops)
	if err != nil {
		return nil, err
	}
	for _, op := range ops {
		if strings.HasPrefix(op.Target(), agentsPrefix) {
			return nil, &oxbow.NameError{Name: op.Target(), Err: oxbow.ErrNotFound}
		}
	}
	return ops, nil
}

// toAgentError returns err with the name that the agent uses for the entry, in place of the entry's name in the store.
// Errors without such a name are returned unchanged.
func (s *scopedStore) toAgentError(err error) error {
	if e, ok := errors.AsType[*oxbow.NameError](err); ok && strings.HasPrefix(e.Name, s.agentPrefix) {
		return &oxbow.NameError{Name: strings.TrimPrefix(e.Name, s.agentPrefix), Err: e.Err}
	}
	if e, ok := errors.AsType[*oxbow.ConflictError](err); ok && strings.HasPrefix(e.Name, s.agentPrefix) {
		c := *e
		c.Name = strings.TrimPrefix(e.Name, s.agentPrefix)
		return &c
	}
	return err
}

func (s *scopedStore) Close() error { return s.memory.Close() }

func (s *scopedStore) Watch(fn func(oxbow.Event)) (stop func()) {
	return oxbow.CapabilitiesOf(s.memory.Store()).Watcher.Watch(func(e oxbow.Event) {
		var seen []oxbow.Delta
		for _, d := range e.Changes {
			if d.Entry != nil {
				e, ok := s.toAgentEntry(*d.Entry)
				if !ok {
					continue
				}
				d.Entry = &e
			}
			seen = append(seen, d)
		}
		fn(oxbow.Event{Changes: seen, Reset: e.Reset})
	})
}

func (s *scopedStore) Refresh(ctx context.Context) error {
	return oxbow.CapabilitiesOf(s.memory.Store()).Watcher.Refresh(ctx)
}

// Stats counts only the entries that the agent may see. The byte count is the size of the whole file, including other
// agents' entries.
func (s *scopedStore) Stats(ctx context.Context) (oxbow.Stats, error) {
	st, err := s.memory.Stats(ctx)
	if err != nil {
		return st, err
	}
	st.Entries = 0
	for _, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return st, err
		}
		st.Entries++
	}
	return st, nil
}

// Log yields the changes of entries that the agent may see.
func (s *scopedStore) Log(ctx context.Context) iter.Seq2[oxbow.Change, error] {
	return func(yield func(oxbow.Change, error) bool) {
		for c, err := range s.memory.Log(ctx) {
			if err != nil {
				yield(oxbow.Change{}, err)
				return
			}
			shown := s.toAgentChange(c)
			if len(shown.Versions) == 0 && len(c.Versions) > 0 {
				continue
			}
			if !yield(shown, nil) {
				return
			}
		}
	}
}

func (s *scopedStore) Versions(ctx context.Context, name string) iter.Seq2[oxbow.Version, error] {
	return func(yield func(oxbow.Version, error) bool) {
		if strings.HasPrefix(name, agentsPrefix) {
			yield(oxbow.Version{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound})
			return
		}
		for v, err := range s.memory.Versions(ctx, s.nameInStore(name)) {
			v.Entry, _ = s.toAgentEntry(v.Entry)
			if !yield(v, s.toAgentError(err)) {
				return
			}
		}
	}
}

func (s *scopedStore) AsOf(ctx context.Context, seq uint64) (oxbow.Store, error) {
	then, err := s.memory.AsOf(ctx, seq)
	if err != nil {
		return nil, err
	}
	return &scopedStore{oxbow.New(then, nil), s.agentPrefix}, nil
}

func (s *scopedStore) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	h, err := s.memory.History()
	if err != nil {
		return 0, err
	}
	return h.SeqAt(ctx, t)
}

// Revert undoes the changes with the numbers seqs in one new change and returns its number. It returns an error if one
// of the changes includes an entry of another agent.
func (s *scopedStore) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	for c, err := range s.memory.Log(ctx) {
		if err != nil {
			return 0, err
		}
		if !slices.Contains(seqs, c.Seq) {
			continue
		}
		for _, v := range c.Versions {
			if _, ok := s.agentName(v.Entry.Name); !ok {
				return 0, &oxbow.InvalidError{
					Field:  "change",
					Value:  v.Entry.Name,
					Reason: "is about another agent's memory; open that agent to undo it",
				}
			}
		}
	}
	return s.memory.Revert(ctx, seqs...)
}

func (s *scopedStore) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	if strings.HasPrefix(name, agentsPrefix) {
		return 0, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	seq, err := s.memory.Restore(ctx, s.nameInStore(name), seq)
	return seq, s.toAgentError(err)
}

func (s *scopedStore) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	if strings.HasPrefix(name, agentsPrefix) {
		return 0, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	seq, err := s.memory.RestoreIf(ctx, s.nameInStore(name), seq, version)
	return seq, s.toAgentError(err)
}
