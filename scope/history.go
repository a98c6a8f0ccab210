// This file implements the history of a scope. The history of a name is visible only if the present or last entry with
// this name is in the scope. Of that history, only versions in the scope are visible. Therefore the history of an
// entry disappears when the entry leaves the scope, and an entry that enters the scope does not reveal its earlier
// texts.

package scope

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// history is the history of a store that is restricted to a scope. It contains only the entries in the scope. It
// implements [oxbow.Historian].
type history struct {
	*store
	historian oxbow.Historian
}

var _ oxbow.Historian = (*history)(nil)

// newHistory returns the history of the base store, restricted to the entries in the scope.
func (v *store) newHistory() oxbow.Historian {
	h := history{v, v.baseCapabilities.Historian}
	if _, seeks := oxbow.ReadHistory(h.historian).(oxbow.LogSeeker); seeks {
		return &seekableScopedHistory{h}
	}
	return &h
}

// historyVisibility decides which versions are visible. It caches the decisions by name.
type historyVisibility struct {
	scope        *Scope
	historian    oxbow.Historian
	visibleNames map[string]bool // for each name: whether its history is visible
	// for each name whose entry was removed: all versions of entries with the name
	versionsByName             map[string][]oxbow.Version
	reportsEntriesLeavingScope bool // If a change moved an entry out of the scope, report the new version as a removal.
}

func (h *history) newHistoryVisibility() *historyVisibility {
	return &historyVisibility{
		scope:          &h.scope,
		historian:      h.historian,
		visibleNames:   map[string]bool{},
		versionsByName: map[string][]oxbow.Version{},
	}
}

type leavingEntriesContextKey struct{}

// WithLeaves returns a context for reading the log of a memory through a scope, which hides some entries. A change can
// move an entry out of the scope, so that the scope hides the entry from then on. With this context, the log reports
// such a change as the removal of the entry. Programs that follow the log need this report, because they would
// otherwise keep the entry. The report reveals only the entry's name, which was visible before.
func WithLeaves(ctx context.Context) context.Context {
	return context.WithValue(ctx, leavingEntriesContextKey{}, true)
}

// removalForLeavingEntry returns a version that reports an entry's removal, if the version newVersion moved its entry
// out of the scope. The caller reports the removal instead of newVersion, which the scope hides. The entry has left the
// scope if the scope includes its previous version and does not include newVersion. In all other cases,
// removalForLeavingEntry returns nil. It also returns nil if newVersion itself is a removal, or if
// p.reportsEntriesLeavingScope is false.
func (p *historyVisibility) removalForLeavingEntry(
	ctx context.Context,
	newVersion *oxbow.Version,
) ([]oxbow.Version, error) {
	if !p.reportsEntriesLeavingScope {
		return nil, nil
	}
	if newVersion.Verb == oxbow.VerbRemove || p.scope.Sees(&newVersion.Entry) {
		return nil, nil
	}
	old, err := p.previousVersion(ctx, newVersion)
	if err != nil || old == nil {
		return nil, err
	}
	if old.Verb == oxbow.VerbRemove || !p.scope.Sees(&old.Entry) {
		return nil, nil
	}
	return []oxbow.Version{
		{
			Seq:    newVersion.Seq,
			Verb:   oxbow.VerbRemove,
			Source: newVersion.Source,
			Entry:  oxbow.Entry{ID: newVersion.Entry.ID, Name: newVersion.Entry.Name, Kind: newVersion.Entry.Kind},
		},
	}, nil
}

// currentOrLastEntry returns the present entry with this name or the last version of a removed entry. It returns nil
// if the name was never used, or if compactions have dropped all versions.
func (p *historyVisibility) currentOrLastEntry(ctx context.Context, name string) (*oxbow.Entry, error) {
	now, err := p.historian.Get(ctx, name)
	if err == nil {
		return &now, nil
	}
	if !isNotFound(err) {
		return nil, err
	}
	for w, err := range p.historian.Versions(ctx, name) {
		if isNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if w.Verb != oxbow.VerbRemove {
			return &w.Entry, nil
		}
	}
	return nil, nil
}

// isVersionVisible reports whether the scope shows the version w. It returns true if the scope contains both this
// version and the present entry with the same name. If the entry was removed, its last version takes the place of the
// present entry. For a version that records a removal, the version before the removal is examined instead of w.
func (p *historyVisibility) isVersionVisible(ctx context.Context, w *oxbow.Version) (bool, error) {
	name := w.Entry.Name
	in, known := p.visibleNames[name]
	if !known {
		e, err := p.currentOrLastEntry(ctx, name)
		if err != nil {
			return false, err
		}
		in = e != nil && p.scope.Sees(e)
		p.visibleNames[name] = in
	}
	if !in || w.Verb != oxbow.VerbRemove {
		return in && p.scope.Sees(&w.Entry), nil
	}
	old, err := p.previousVersion(ctx, w)
	return old != nil && p.scope.Sees(&old.Entry), err
}

// previousVersion returns the version before w, or nil if w is the first.
func (p *historyVisibility) previousVersion(ctx context.Context, w *oxbow.Version) (*oxbow.Version, error) {
	if w.Prev == 0 {
		return nil, nil
	}
	name := w.Entry.Name
	all, known := p.versionsByName[name]
	if !known {
		for o, err := range p.historian.Versions(ctx, name) {
			if isNotFound(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
		p.versionsByName[name] = all
	}
	// Versions are ordered newest first, so this finds the last of several versions with the same number.
	if i := slices.IndexFunc(all, func(o oxbow.Version) bool { return o.Seq == w.Prev }); i >= 0 {
		return &all[i], nil
	}
	return nil, nil
}

// visibleChange returns the change c without the parts that the scope hides. A hidden version is omitted. If an entry
// left the scope with this version, and if ctx asks for such removals, a removal takes its place. If any version is
// hidden, the notes are removed, too. In visible versions and notes, texts that the scope hides are replaced. The hash
// is always removed, because it describes the whole change.
func (p *historyVisibility) visibleChange(ctx context.Context, c oxbow.Change) (oxbow.Change, error) {
	all := c.Versions
	c.Versions, c.Hash = nil, ""
	hidden := false
	for i := range all {
		in, err := p.isVersionVisible(ctx, &all[i])
		if err != nil {
			return c, err
		}
		if in {
			c.Versions = append(c.Versions, p.scope.redactVersion(all[i]))
			continue
		}
		hidden = true
		left, err := p.removalForLeavingEntry(ctx, &all[i])
		if err != nil {
			return c, err
		}
		c.Versions = append(c.Versions, left...)
	}
	if hidden {
		c.Note = ""
		for i := range c.Versions {
			c.Versions[i].Note = ""
		}
	}
	c.Note = p.scope.Text(c.Note)
	return c, nil
}

// Log implements [oxbow.Historian].
func (h *history) Log(ctx context.Context) iter.Seq2[oxbow.Change, error] {
	return h.visibleChanges(ctx, h.historian.Log(ctx), 0)
}

// visibleChanges yields the changes, without the versions that the scope hides. It omits a change if the scope hides
// all versions of the change. It also omits the first skipCount changes that it would yield.
func (h *history) visibleChanges(
	ctx context.Context,
	changes iter.Seq2[oxbow.Change, error],
	skipCount int,
) iter.Seq2[oxbow.Change, error] {
	return func(yield func(oxbow.Change, error) bool) {
		p := h.newHistoryVisibility()
		p.reportsEntriesLeavingScope, _ = ctx.Value(leavingEntriesContextKey{}).(bool)
		skip := skipCount
		for c, err := range changes {
			if err == nil {
				c, err = p.visibleChange(ctx, c)
			}
			switch {
			case err != nil:
				yield(oxbow.Change{}, err)
				return
			case len(c.Versions) == 0:
			case skip > 0:
				skip--
			case !yield(c, nil):
				return
			}
		}
	}
}

// seekableScopedHistory is a history that is restricted to a scope. It can be read beginning at any change, because the
// base store's history is an [oxbow.LogSeeker].
type seekableScopedHistory struct{ history }

var _ oxbow.LogSeeker = (*seekableScopedHistory)(nil)

// LogFrom implements [oxbow.LogSeeker].
func (h *seekableScopedHistory) LogFrom(ctx context.Context, seq uint64, skipCount int) iter.Seq2[oxbow.Change, error] {
	return h.visibleChanges(ctx, oxbow.LogFrom(ctx, h.historian, seq, 0), skipCount)
}

// Versions implements [oxbow.Historian]. It yields the versions of an entry that are in the scope, without change
// notes. If no version is in the scope, the error matches [oxbow.ErrNotFound].
func (h *history) Versions(ctx context.Context, name string) iter.Seq2[oxbow.Version, error] {
	return func(yield func(oxbow.Version, error) bool) {
		p := h.newHistoryVisibility()
		found := false
		name, err := h.findRealName(ctx, name)
		if err != nil {
			yield(oxbow.Version{}, err)
			return
		}
		for w, err := range h.historian.Versions(ctx, name) {
			in := false
			if err == nil {
				in, err = p.isVersionVisible(ctx, &w)
			}
			if err != nil {
				yield(oxbow.Version{}, err)
				return
			}
			if !in {
				continue
			}
			found = true
			w.Note = "" // Hide the change's note, because it may describe other entries of the same change.
			if !yield(h.scope.redactVersion(w), nil) {
				return
			}
		}
		if !found {
			yield(oxbow.Version{}, notFoundError(name))
		}
	}
}

// SeqAt implements [oxbow.Historian].
func (h *history) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	return h.historian.SeqAt(ctx, t)
}

// AsOf implements [oxbow.Historian].
func (h *history) AsOf(ctx context.Context, seq uint64) (oxbow.Store, error) {
	then, err := h.historian.AsOf(ctx, seq)
	if err != nil {
		return nil, err
	}
	return &scopedStoreAtChange{Store: then, visibility: h.newHistoryVisibility()}, nil
}

// scopedStoreAtChange is a scope in the state after an earlier change. It is read-only.
type scopedStoreAtChange struct {
	oxbow.Store // the store without the restrictions of the scope, in the state directly after an earlier change

	mu         sync.Mutex // guards visibility, which several readers of the view use
	visibility *historyVisibility
}

func (s *scopedStoreAtChange) isEntryVisible(ctx context.Context, e *oxbow.Entry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visibility.isVersionVisible(ctx, &oxbow.Version{Entry: *e, Verb: oxbow.VerbUpdate})
}

func (s *scopedStoreAtChange) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := s.Store.Get(ctx, name)
	if isNotFound(err) && s.visibility.scope.hasRedactionMark(name) {
		return s.getByShownName(ctx, name)
	}
	if err != nil {
		return e, err
	}
	in, err := s.isEntryVisible(ctx, &e)
	switch {
	case err != nil:
		return oxbow.Entry{}, err
	case !in:
		return oxbow.Entry{}, notFoundError(name)
	}
	return s.visibility.scope.Shown(e), nil
}

// getByShownName returns the entry that is shown under the given name. The real name of the entry may be different,
// because hidden parts are replaced by marks in the name that is shown. getByShownName returns an error unless exactly
// one entry is shown under this name.
func (s *scopedStoreAtChange) getByShownName(ctx context.Context, name string) (found oxbow.Entry, err error) {
	count := 0
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return oxbow.Entry{}, err
		}
		if e.Name == name {
			found = e
			count++
		}
	}
	if count != 1 {
		return oxbow.Entry{}, notFoundError(name)
	}
	return found, nil
}

func (s *scopedStoreAtChange) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for e, err := range s.Store.Entries(ctx, f) {
			in := false
			if err == nil {
				in, err = s.isEntryVisible(ctx, &e)
			}
			if err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			if !in {
				continue
			}
			shown := s.visibility.scope.Shown(e)
			if len(s.visibility.scope.Redact) > 0 && !f.Match(&shown) {
				continue // Without the personal data that the scope hides, this entry does not match the filter.
			}
			if !yield(shown, nil) {
				return
			}
		}
	}
}

// Revert implements [oxbow.Historian]. seqs contains the numbers of the changes to revert. Revert fails if the scope
// hides a version that one of these changes wrote or replaced. It also fails if the scope does not permit the new
// change that undoes them. If a number is unknown or the scope hides the whole change, the error matches
// [oxbow.ErrNotFound].
func (h *history) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	if err := h.checkWritable(); err != nil {
		return 0, err
	}
	p := h.newHistoryVisibility()
	left := map[uint64]bool{}
	for _, s := range seqs {
		left[s] = true
	}
	for c, err := range h.historian.Log(ctx) {
		if err != nil {
			return 0, err
		}
		if len(left) == 0 || c.Seq < slices.Min(seqs) {
			break
		}
		if !left[c.Seq] {
			continue
		}
		visible, err := h.checkRevert(ctx, p, c)
		if err != nil {
			return 0, err
		}
		// Delete the change from the set of changes that were not found. If the scope hides the whole change, leave it
		// in the set, so that it is reported as unknown.
		if visible {
			delete(left, c.Seq)
		}
	}
	for _, s := range seqs {
		if left[s] {
			return 0, fmt.Errorf("%w: there is no change %d", oxbow.ErrNotFound, s)
		}
	}
	return h.historian.Revert(h.contextWithProfile(ctx), seqs...)
}

// checkRevert checks whether the change c can be undone within the scope. isChangeVisible is false if the scope hides
// all versions of the change. If the scope hides only some versions of the change, or does not allow restoring a
// previous version, checkRevert returns true and an error.
func (h *history) checkRevert(
	ctx context.Context,
	p *historyVisibility,
	c oxbow.Change,
) (isChangeVisible bool, err error) {
	seen, err := p.visibleChange(ctx, c)
	switch {
	case err != nil:
		return false, err
	case len(seen.Versions) == 0:
		return false, nil
	case len(seen.Versions) < len(c.Versions):
		return true, fmt.Errorf(
			"%w: change %d cannot be undone within %s",
			oxbow.ErrUnsupported,
			c.Seq,
			h.scope.displayTitle(),
		)
	}
	for i := range c.Versions {
		old, err := p.previousVersion(ctx, &c.Versions[i])
		if err != nil {
			return true, err
		}
		if err := h.checkRestore(&c.Versions[i], old); err != nil {
			return true, fmt.Errorf("undoing change %d: %w", c.Seq, err)
		}
	}
	return true, nil
}

// checkRestore returns an error if the scope does not allow the restore of an old version of an entry. The argument
// from is the present version, and the argument to is the version that replaces it. Both versions must be in the scope
// and must not be read-only. A version that is nil or a removal is not checked.
func (h *history) checkRestore(from, to *oxbow.Version) error {
	for _, w := range []*oxbow.Version{from, to} {
		if w == nil || w.Verb == oxbow.VerbRemove {
			continue
		}
		if !h.scope.Sees(&w.Entry) {
			return invalidError("entry", w.Entry.Name, "was outside of "+h.scope.displayTitle()+" before")
		}
		if err := h.scope.checkChangeAllowed(&w.Entry); err != nil {
			return err
		}
	}
	return nil
}

// Restore implements [oxbow.Historian].
func (h *history) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	for try := 0; ; try++ {
		n, err := h.restoreVersion(ctx, name, seq, nil)
		if errors.Is(err, oxbow.ErrConflict) && try < maxRaceRetries {
			continue // Another writer has changed the entry meanwhile, so try again.
		}
		return n, err
	}
}

// RestoreIf implements [oxbow.Historian].
func (h *history) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return h.restoreVersion(ctx, name, seq, &version)
}

// restoreVersion writes an earlier version of an entry again, so that this version becomes the newest. seq is the
// number of the earlier version, which must be visible in the scope. The present entry must also be in the scope. If
// wantedVersion is not nil, the present version must be *wantedVersion. The restore fails if the entry changes in the
// meantime, so that it cannot leave the scope. restoreVersion returns the number of the change.
func (h *history) restoreVersion(ctx context.Context, name string, seq uint64, wantedVersion *uint64) (uint64, error) {
	if err := h.checkWritable(); err != nil {
		return 0, err
	}
	name, err := h.findRealName(ctx, name)
	if err != nil {
		return 0, err
	}
	now, err := h.historian.Get(ctx, name)
	switch {
	case isNotFound(err):
	case err != nil:
		return 0, err
	case !h.scope.Sees(&now):
		return 0, notFoundError(name)
	}
	if wantedVersion != nil && *wantedVersion != now.Version {
		return 0, &oxbow.ConflictError{Name: name, Want: *wantedVersion, Have: now.Version}
	}
	for w, err := range h.Versions(ctx, name) {
		if err != nil {
			return 0, err
		}
		if w.Seq != seq {
			continue
		}
		var from *oxbow.Version
		if now.Version != 0 {
			from = &oxbow.Version{Entry: now, Verb: oxbow.VerbUpdate}
		}
		if err := h.checkRestore(from, &w); err != nil {
			return 0, err
		}
		return h.historian.RestoreIf(h.contextWithProfile(ctx), name, seq, now.Version)
	}
	return 0, fmt.Errorf("%w: %q has no version %d", oxbow.ErrNotFound, name, seq)
}
