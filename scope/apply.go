// This file makes changes within a scope. Each op is checked against the scope. Then the op gets a condition, so that
// it fails unless the entry still has the version that was checked.

package scope

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// maxRaceRetries is the maximum number of attempts to make a change if other writers change the checked entries
// meanwhile.
const maxRaceRetries = 1000

// Apply implements [oxbow.Store]. It checks whether the ops are allowed, which depends on the present entries. It then
// applies each op on the condition that the entry's version is still the version that was checked. Therefore, no entry
// can leave or enter the scope between the check and the change.
func (v *store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	return v.checkAndApplyOps(
		ctx,
		ops,
		func(ctx context.Context, bound []oxbow.Op) error { return v.base.Apply(ctx, bound...) },
	)
}

// Commit implements [oxbow.Committer]. The change that it returns contains only entries in the scope. It has neither
// note nor hash, because these describe the whole change.
func (v *store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	var c oxbow.Change
	err := v.checkAndApplyOps(ctx, ops, func(ctx context.Context, bound []oxbow.Op) (err error) {
		if v.baseCapabilities.Committer == nil {
			return v.base.Apply(ctx, bound...)
		}
		c, err = v.baseCapabilities.Committer.Commit(ctx, bound...)
		return err
	})
	if err != nil {
		return oxbow.Change{}, err
	}
	return v.visiblePartOfChange(c, ops), nil
}

// visiblePartOfChange returns the part of the change c that the caller may see. ops are the present call's ops. If an
// earlier call had the same op ID, the store returns the change of the earlier call. Therefore c may contain entries
// that ops do not change and that are outside the scope.
func (v *store) visiblePartOfChange(c oxbow.Change, ops []oxbow.Op) oxbow.Change {
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
		shown := v.scope.redactVersion(w)
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

// checkAndApplyOps checks whether the scope allows the ops. It then calls the function apply with the ops for the
// underlying store. Each of these ops requires that its entry still has the version that was checked. If another writer
// has changed the entry since the check, the op fails. In this case, checkAndApplyOps checks and applies the ops again,
// up to maxRaceRetries times.
func (v *store) checkAndApplyOps(
	ctx context.Context,
	ops []oxbow.Op,
	apply func(ctx context.Context, bound []oxbow.Op) error,
) error {
	if err := v.checkWritable(); err != nil {
		// Without ops, Apply writes nothing. It only reports whether the underlying store is closed.
		if len(ops) == 0 {
			return v.base.Apply(ctx)
		}
		return err
	}
	ctx = v.contextWithProfile(ctx)
	for try := 0; ; try++ {
		b, err := v.convertOps(ctx, ops)
		if err != nil {
			return err
		}
		err = apply(ctx, b.convertedOps)
		if try < maxRaceRetries && v.hasLostRace(ctx, b, err, ops) {
			continue
		}
		return v.hideEntriesInError(ctx, err, ops)
	}
}

// hasLostRace reports whether err means that another writer changed an entry after the ops had been checked, so that
// another attempt may succeed. b contains the converted ops, to which the scope may have added conditions about
// versions. hasLostRace returns false if a condition in the caller's own ops is not met, because another attempt would
// fail again.
func (v *store) hasLostRace(ctx context.Context, b scopedOpConverter, err error, ops []oxbow.Op) bool {
	return b.hasVersionCondition && errors.Is(err, oxbow.ErrConflict) && !v.isVersionHidden(ctx, ops)
}

// DryRun implements [oxbow.DryRunner].
func (v *store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := v.checkWritable(); err != nil {
		return err
	}
	b, err := v.convertOps(ctx, ops)
	if d := v.baseCapabilities.DryRunner; d != nil && err == nil {
		err = v.hideEntriesInError(ctx, d.DryRun(ctx, b.convertedOps...), ops)
	}
	return err
}

// convertOps checks whether the scope allows the ops, and converts them to ops for the underlying store. The result b
// contains the converted ops in b.convertedOps. If an op is invalid or the scope does not allow it, convertOps returns
// an error.
func (v *store) convertOps(ctx context.Context, ops []oxbow.Op) (b scopedOpConverter, err error) {
	b = scopedOpConverter{store: v, pendingEntries: map[string]*oxbow.Entry{}}
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return b, err
		}
	}
	for _, op := range ops {
		op, err := v.restoreHiddenData(ctx, op)
		if err == nil {
			err = b.convertOp(ctx, op)
		}
		if err != nil {
			return b, err
		}
	}
	if v.screenOps != nil {
		b.convertedOps, err = v.screenOps(ctx, v.base, b.convertedOps)
	}
	return b, err
}

// scopedOpConverter checks the ops of a caller, and converts them to ops for the underlying store, which has no scope.
// It adds the labels of the scope. It also adds conditions, so that an op fails unless the entry has the version that
// was checked.
type scopedOpConverter struct {
	store *store
	// entries as they will be after the ops that were checked so far (nil for a removed entry)
	pendingEntries map[string]*oxbow.Entry
	convertedOps   []oxbow.Op
	// The scope has added a condition to an op: the entry must still have the version that was checked. Therefore the
	// op fails if another writer has changed the entry in the meantime.
	hasVersionCondition bool
}

// convertOp checks whether the scope allows the next op, and adds it to convertedOps.
func (b *scopedOpConverter) convertOp(ctx context.Context, op oxbow.Op) error {
	old, at, err := b.stagedEntry(ctx, op.Target())
	if err != nil {
		return err
	}
	outside := old != nil && !b.store.scope.Sees(old)
	add, isAdd := op.(oxbow.Add)
	switch {
	// If an entry outside the scope has the name op.Target(), the underlying store refuses the op. The error for the
	// caller is changed later, so that it reveals nothing about this entry.
	case isAdd && (old == nil || outside):
		return b.convertAdd(ctx, add)
	case outside:
		return notFoundError(op.Target())
	case old == nil: // The entry does not exist, so the underlying store will refuse the op.
		b.convertedOps = append(b.convertedOps, op)
		return nil
	}
	u, _ := op.(oxbow.Update)
	a, _ := op.(oxbow.Alias)
	if err := b.checkNamesFree(ctx, append(u.Aliases, a.Aliases...), old.Aliases); err != nil {
		return err
	}
	return b.convertChange(op, old, at)
}

// checkNamesFree returns an error if one of the names in newNames is the name or an alias of an entry outside the
// scope. It does not check names that are in oldNames. The error does not reveal the entry's name.
func (b *scopedOpConverter) checkNamesFree(ctx context.Context, newNames, oldNames []string) error {
	for _, w := range newNames {
		if slices.Contains(oldNames, w) {
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
				return b.store.hiddenNameTakenError(w)
			}
		}
	}
	return nil
}

// stagedEntry returns the entry with this name as it will be after the ops that were converted so far. It returns nil
// if no such entry will exist. The second result is the version that the entry must still have when the op is applied.
// The version is 0, which means that no version is required, in two cases: an earlier op of the same call writes the
// entry, or the entry does not exist.
func (b *scopedOpConverter) stagedEntry(ctx context.Context, name string) (*oxbow.Entry, uint64, error) {
	if e, ok := b.pendingEntries[name]; ok {
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

// convertAdd checks the Add operation in the argument a, adds the labels of the scope to the operation, and appends the
// operation to b.convertedOps. It also adds the new entry to b.pendingEntries. It returns an error if another entry
// already has the name or an alias of the new entry, or if the scope does not allow the new entry.
func (b *scopedOpConverter) convertAdd(ctx context.Context, a oxbow.Add) error {
	if err := b.checkNameNotShown(ctx, a.Name); err != nil {
		return err
	}
	a.Labels = b.store.scope.addRequiredLabels(a.Labels, nil)
	next := b.store.entryFromAdd(ctx, a)
	if err := b.store.scope.checkNewState(next, nil); err != nil {
		return err
	}
	if err := b.checkNamesFree(ctx, append([]string{a.Name}, a.Aliases...), nil); err != nil {
		return err
	}
	b.pendingEntries[a.Name] = next
	b.convertedOps = append(b.convertedOps, a)
	return nil
}

// checkNameNotShown returns an error if an entry in the scope is already shown under the given name. This happens if
// the real name of the entry contains personal data, which is replaced by a mark in the name that is shown.
func (b *scopedOpConverter) checkNameNotShown(ctx context.Context, name string) error {
	if !b.store.scope.hasRedactionMark(name) {
		return nil
	}
	names, err := b.store.entryNamesShownAs(ctx, name)
	names = slices.DeleteFunc(names, func(n string) bool { e, ok := b.pendingEntries[n]; return ok && e == nil })
	switch {
	case err != nil || len(names) == 0:
		return err
	case len(names) == 1:
		return &oxbow.NameError{Name: name, Err: oxbow.ErrExists}
	}
	return invalidError("name", name, "is how "+b.store.scope.displayTitle()+" shows several entries; choose another")
}

// convertChange checks an op that changes an entry, and adds the op to b.convertedOps. The argument old is the present
// entry. The entry must be in the scope before and after the op. If seq is not 0, the op gets the condition that the
// entry has the version seq, so that the entry stays in the scope until the op is applied. An op that already requires
// a version keeps its own condition.
func (b *scopedOpConverter) convertChange(op oxbow.Op, old *oxbow.Entry, seq uint64) error {
	s := &b.store.scope
	next := old.Clone()
	remove := false
	switch o := op.(type) {
	case oxbow.Add: // The underlying store will refuse to add the entry, because the name exists.
		seq = 0
	case oxbow.Update:
		o.Labels = s.addRequiredLabels(o.Labels, old)
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
		if err := s.checkChangeAllowed(old); err != nil {
			return err
		}
	}
	if remove {
		b.pendingEntries[old.Name] = nil
	} else {
		if err := s.checkNewState(&next, old); err != nil {
			return err
		}
		b.pendingEntries[old.Name] = &next
	}
	if op.IfVersion() == 0 && seq != 0 {
		op, b.hasVersionCondition = requireVersion(op, seq), true
	}
	b.convertedOps = append(b.convertedOps, op)
	return nil
}

// requireVersion returns the op with the condition that the entry has this version.
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

// entryFromAdd returns the entry that an Add will create. It contains only what filters examine.
func (v *store) entryFromAdd(ctx context.Context, a oxbow.Add) *oxbow.Entry {
	e := &oxbow.Entry{Name: a.Name, Kind: a.Kind, Content: a.Content, Aliases: a.Aliases, Labels: a.Labels,
		Created: a.Created, Source: v.changeSource}
	if e.Created.IsZero() {
		e.Created = v.clock().UTC()
	}
	if s, ok := oxbow.SourceFrom(ctx); ok {
		e.Source = s
	}
	return e
}

// isVersionHidden reports whether one of the caller's ops requires a version that the entry no longer has, or requires
// a version of an entry that cannot be read. Another attempt cannot succeed in this case.
func (v *store) isVersionHidden(ctx context.Context, ops []oxbow.Op) bool {
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

// hiddenNameTakenError returns the error for a name or alias that an entry outside the caller's scope already has. It
// does not reveal that entry.
func (v *store) hiddenNameTakenError(name string) error {
	return invalidError("name", name, "cannot be used within "+v.scope.displayTitle()+"; choose another")
}

// hideEntriesInError changes errors of the base, so that they do not reveal entries outside the scope. It cannot hide
// that a name is in use, because names are unique in a store. The new error does not match ErrExists or ErrConflict,
// because callers would then try to read the entry.
func (v *store) hideEntriesInError(ctx context.Context, err error, ops []oxbow.Op) error {
	if taken, ok := errors.AsType[*oxbow.AliasError](err); ok {
		owner := taken.Names[0]
		own := slices.ContainsFunc(ops, func(op oxbow.Op) bool { return op.Target() == owner })
		e, gerr := v.base.Get(ctx, owner)
		switch {
		case gerr != nil && !own:
			return v.hiddenNameTakenError(taken.Alias)
		case gerr == nil && !v.scope.Sees(&e):
			return v.hiddenNameTakenError(taken.Alias)
		}
	}
	if !errors.Is(err, oxbow.ErrExists) && !errors.Is(err, oxbow.ErrConflict) {
		return err
	}
	for _, op := range ops {
		name := op.Target()
		if e, gerr := v.base.Get(ctx, name); gerr == nil && !v.scope.Sees(&e) {
			return v.hiddenNameTakenError(name)
		}
	}
	return err
}
