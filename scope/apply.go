// This file applies changes to a scope. Each op is checked against the scope and then bound
// to the version of the entry that was checked.

package scope

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// maxRaceRetries is the maximum number of retries if another writer changes the entry after it
// was checked.
const maxRaceRetries = 1000

// Apply implements [oxbow.Store]. Whether an op is allowed depends on the current entries.
// Each op is bound to the versions that were checked, so that no entry can leave or enter
// the scope in between.
func (v *store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	return v.bindAndApply(
		ctx,
		ops,
		func(ctx context.Context, bound []oxbow.Op) error { return v.base.Apply(ctx, bound...) },
	)
}

// Commit implements [oxbow.Committer]. The change has only the versions of entries in the
// scope. It has neither a note nor a hash, because these describe the whole change.
func (v *store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	var c oxbow.Change
	err := v.bindAndApply(ctx, ops, func(ctx context.Context, bound []oxbow.Op) (err error) {
		if v.baseCapabilities.Committer == nil {
			return v.base.Apply(ctx, bound...)
		}
		c, err = v.baseCapabilities.Committer.Commit(ctx, bound...)
		return err
	})
	if err != nil {
		return oxbow.Change{}, err
	}
	return v.visiblePart(c, ops), nil
}

// visiblePart returns the part of the change that the caller may see. If the op ID belongs to
// another call, the base returns the change of that call, which may have versions
// outside of the scope.
func (v *store) visiblePart(c oxbow.Change, ops []oxbow.Op) oxbow.Change {
	targets := map[string]bool{}
	for _, op := range ops {
		targets[op.Target()] = true
	}
	all := c.Versions
	c.Versions = nil
	c.Note = ""
	c.Hash = ""
	c.Reverts = nil
	for _, w := range all {
		w.Note = ""
		shown := v.scope.shownVersion(w)
		isInside := v.scope.Sees(&w.Entry)
		if w.Verb == oxbow.VerbRemove {
			isInside = targets[w.Entry.Name] || targets[shown.Entry.Name]
		}
		if isInside {
			c.Versions = append(c.Versions, shown)
		}
	}
	return c
}

// bindAndApply binds the ops to the entries that were checked, and calls apply. If another writer
// changes an entry in between, it starts again.
func (v *store) bindAndApply(
	ctx context.Context,
	ops []oxbow.Op,
	apply func(ctx context.Context, bound []oxbow.Op) error,
) error {
	if err := v.checkWritable(); err != nil {
		if len(ops) == 0 { // the only possible error is that the base is closed
			return v.base.Apply(ctx)
		}
		return err
	}
	ctx = v.withProfile(ctx)
	for try := 0; ; try++ {
		b, err := v.bindOps(ctx, ops)
		if err != nil {
			return err
		}
		err = apply(ctx, b.boundOps)
		if try < maxRaceRetries && v.lostRace(ctx, b, err, ops) {
			continue
		}
		return v.hideErrors(ctx, err, ops)
	}
}

// lostRace reports whether the ops failed with err because another writer changed an entry between
// the reading and the writing of b, so that another attempt may succeed.
func (v *store) lostRace(ctx context.Context, b binder, err error, ops []oxbow.Op) bool {
	return b.mayRace && errors.Is(err, oxbow.ErrConflict) && !v.versionIsHidden(ctx, ops)
}

// DryRun implements [oxbow.DryRunner].
func (v *store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := v.checkWritable(); err != nil {
		return err
	}
	b, err := v.bindOps(ctx, ops)
	if d := v.baseCapabilities.DryRunner; d != nil && err == nil {
		err = v.hideErrors(ctx, d.DryRun(ctx, b.boundOps...), ops)
	}
	return err
}

// bindOps checks the ops and returns a binder with the ops for the base.
func (v *store) bindOps(ctx context.Context, ops []oxbow.Op) (b binder, err error) {
	b = binder{store: v, stagedEntries: map[string]*oxbow.Entry{}}
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return b, err
		}
	}
	for _, op := range ops {
		op, err := v.restoreRedacted(ctx, op)
		if err == nil {
			err = b.bindOp(ctx, op)
		}
		if err != nil {
			return b, err
		}
	}
	if v.screen != nil {
		b.boundOps, err = v.screen(ctx, v.base, b.boundOps)
	}
	return b, err
}

// binder converts a caller's ops to ops for the base. It adds the scope's labels and
// binds each op to the version that was checked.
type binder struct {
	store         *store
	stagedEntries map[string]*oxbow.Entry // entries after the ops so far (nil if removed)
	boundOps      []oxbow.Op
	mayRace       bool // an op was bound to a version although the caller did not request it
}

// bindOp checks and binds the next op.
func (b *binder) bindOp(ctx context.Context, op oxbow.Op) error {
	old, at, err := b.stagedEntry(ctx, op.Target())
	if err != nil {
		return err
	}
	outside := old != nil && !b.store.scope.Sees(old)
	add, isAdd := op.(oxbow.Add)
	switch {
	// if the entry is outside, the base refuses the op, and hide rewrites the error
	case isAdd && (old == nil || outside):
		return b.bindAdd(ctx, add)
	case outside:
		return notFoundError(op.Target())
	case old == nil: // the base refuses the op
		b.boundOps = append(b.boundOps, op)
		return nil
	}
	u, _ := op.(oxbow.Update)
	a, _ := op.(oxbow.Alias)
	if err := b.checkNamesFree(ctx, append(u.Aliases, a.Aliases...), old.Aliases); err != nil {
		return err
	}
	return b.bindChange(op, old, at)
}

// checkNamesFree returns an error if an entry outside of the scope has a word as its name or alias, unless
// the word is in had. The error does not name that entry.
func (b *binder) checkNamesFree(ctx context.Context, words, had []string) error {
	for _, w := range words {
		if slices.Contains(had, w) {
			continue
		}
		for e, err := range b.store.base.Entries(
			ctx,
			oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{w}}}},
		) {
			if err != nil {
				return err
			}
			if !b.store.scope.Sees(&e) {
				return b.store.unusableWordError(w)
			}
		}
	}
	return nil
}

// stagedEntry returns the entry with this name after the ops so far, or nil if no entry has the
// name. It also returns the version to bind the op to, which is 0 if an earlier op wrote
// the entry.
func (b *binder) stagedEntry(ctx context.Context, name string) (*oxbow.Entry, uint64, error) {
	if e, ok := b.stagedEntries[name]; ok {
		return e, 0, nil
	}
	e, err := b.store.base.Get(ctx, name)
	switch {
	case err == nil:
		return &e, e.Version, nil
	case isNotFound(err):
		return nil, 0, nil
	}
	return nil, 0, err
}

// bindAdd binds an Add. No entry in the scope has its name.
func (b *binder) bindAdd(ctx context.Context, a oxbow.Add) error {
	if err := b.checkShownName(ctx, a.Name); err != nil {
		return err
	}
	a.Labels = b.store.scope.labelsToWrite(a.Labels, nil)
	next := b.store.addedEntry(ctx, a)
	if err := b.store.scope.checkNewState(next, nil); err != nil {
		return err
	}
	if err := b.checkNamesFree(ctx, append([]string{a.Name}, a.Aliases...), nil); err != nil {
		return err
	}
	b.stagedEntries[a.Name] = next
	b.boundOps = append(b.boundOps, a)
	return nil
}

// checkShownName returns an error if entries in the scope are shown under this name, because parts
// of their real names are redacted.
func (b *binder) checkShownName(ctx context.Context, name string) error {
	if !b.store.scope.hasRedactionMark(name) {
		return nil
	}
	names, err := b.store.namesShownAs(ctx, name)
	names = slices.DeleteFunc(names, func(n string) bool { e, ok := b.stagedEntries[n]; return ok && e == nil })
	switch {
	case err != nil || len(names) == 0:
		return err
	case len(names) == 1:
		return &oxbow.NameError{Name: name, Err: oxbow.ErrExists}
	}
	return invalidError("name", name, "is how "+b.store.scope.displayTitle()+" shows several entries; choose another")
}

// bindChange checks an op for an entry in the scope and adds the op to b.boundOps. The entry must be in the scope
// before and after the op. Unless the op requires a version already, it is changed to require the version seq (if not
// 0), so that the entry cannot leave the scope before the op is applied.
func (b *binder) bindChange(op oxbow.Op, old *oxbow.Entry, seq uint64) error {
	s := &b.store.scope
	next := old.Clone()
	remove := false
	switch o := op.(type) {
	case oxbow.Add: // the base refuses the op, because the name exists
		seq = 0
	case oxbow.Update:
		o.Labels = s.labelsToWrite(o.Labels, old)
		next.Content = o.Content
		next.Aliases = o.Aliases
		next.Labels = o.Labels
		op = o
	case oxbow.Alias:
		next.Aliases = o.Aliases
	case oxbow.Relabel:
		if err := s.checkOwnLabelsKept(o.Labels, old); err != nil {
			return err
		}
		next.Labels = o.Labels
	case oxbow.Remove:
		remove = true
	}
	if _, isAdd := op.(oxbow.Add); !isAdd {
		if err := s.checkChange(old); err != nil {
			return err
		}
	}
	if remove {
		b.stagedEntries[old.Name] = nil
	} else {
		if err := s.checkNewState(&next, old); err != nil {
			return err
		}
		b.stagedEntries[old.Name] = &next
	}
	if op.IfVersion() == 0 && seq != 0 {
		op, b.mayRace = requireVersion(op, seq), true
	}
	b.boundOps = append(b.boundOps, op)
	return nil
}

// requireVersion returns the op with this required version.
func requireVersion(op oxbow.Op, version uint64) oxbow.Op {
	switch o := op.(type) {
	case oxbow.Update:
		o.If = version
		return o
	case oxbow.Alias:
		o.If = version
		return o
	case oxbow.Relabel:
		o.If = version
		return o
	case oxbow.Remove:
		o.If = version
		return o
	}
	return op
}

// addedEntry returns the entry that an Add will create, with the fields that filters examine.
func (v *store) addedEntry(ctx context.Context, a oxbow.Add) *oxbow.Entry {
	e := &oxbow.Entry{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels,
		Created: a.Created, Source: v.source}
	if e.Created.IsZero() {
		e.Created = v.clock().UTC()
	}
	if s, ok := oxbow.SourceFrom(ctx); ok {
		e.Source = s
	}
	return e
}

// versionIsHidden reports whether the caller required a version of an entry that is not the
// current version. If so, a retry cannot succeed.
func (v *store) versionIsHidden(ctx context.Context, ops []oxbow.Op) bool {
	seen := map[string]bool{}
	for _, op := range ops {
		name, want := op.Target(), op.IfVersion()
		if want != 0 && !seen[name] {
			if e, err := v.base.Get(ctx, name); err != nil || e.Version != want {
				return true
			}
		}
		seen[name] = true
	}
	return false
}

// unusableWordError returns the error for a name or alias that an entry outside of the scope has.
func (v *store) unusableWordError(word string) error {
	return invalidError("name", word, "cannot be used within "+v.scope.displayTitle()+"; choose another")
}

// hideErrors rewrites errors of the base so that they do not reveal entries outside of the scope.
// It cannot hide that a name is in use, because names are unique in a store. Its error does
// not match ErrExists or ErrConflict, because callers would then try to read the entry.
func (v *store) hideErrors(ctx context.Context, err error, ops []oxbow.Op) error {
	if taken, ok := errors.AsType[*oxbow.AliasError](err); ok {
		owner := taken.Names[0]
		own := slices.ContainsFunc(ops, func(op oxbow.Op) bool { return op.Target() == owner })
		e, gerr := v.base.Get(ctx, owner)
		switch {
		case gerr != nil && !own:
			return v.unusableWordError(taken.Alias)
		case gerr == nil && !v.scope.Sees(&e):
			return v.unusableWordError(taken.Alias)
		}
	}
	if !errors.Is(err, oxbow.ErrExists) && !errors.Is(err, oxbow.ErrConflict) {
		return err
	}
	for _, op := range ops {
		name := op.Target()
		if e, gerr := v.base.Get(ctx, name); gerr == nil && !v.scope.Sees(&e) {
			return v.unusableWordError(name)
		}
	}
	return err
}
