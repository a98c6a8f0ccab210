// This file holds the past of a scope. The past of a name is seen where what the
// name is now, or last was, is inside; and of it those versions that were
// inside themselves. So what was moved out of a scope takes its past with it,
// and what was moved in does not bring along what it said before.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"
)

var _ Restorer = (*scoped)(nil)

func (v *scoped) historian() (Historian, error) {
	if h, ok := v.base.(Historian); ok {
		return h, nil
	}
	return nil, fmt.Errorf("%w: it keeps no history", ErrUnsupported)
}

// last returns what the name is or, when it was forgotten, last was; nil for a
// name that was never used or whose versions are gone.
func (v *scoped) last(ctx context.Context, h Historian, name string) (e *Entry, err error) {
	now, err := h.Get(ctx, name)
	if err == nil {
		return &now, nil
	}
	if !isNotFound(err) {
		return nil, err
	}
	for w, err := range h.Versions(ctx, name) {
		if isNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if w.Verb != VerbRemove {
			return &w.Entry, nil
		}
	}
	return nil, nil
}

// past answers questions about the past of several names.
type past struct {
	v      *scoped
	h      Historian
	inside map[string]bool      // whether a name's past may be looked at
	before map[string][]Version // of names with removals: all versions
}

func (v *scoped) past(h Historian) *past {
	return &past{v, h, map[string]bool{}, map[string][]Version{}}
}

// sees reports whether a version may be seen. A removal may where the version
// that it removed may.
func (p *past) sees(ctx context.Context, w *Version) (bool, error) {
	name := w.Entry.Name
	in, known := p.inside[name]
	if !known {
		e, err := p.v.last(ctx, p.h, name)
		if err != nil {
			return false, err
		}
		in = e != nil && p.v.scope.Sees(e)
		p.inside[name] = in
	}
	if !in || w.Verb != VerbRemove {
		return in && p.v.scope.Sees(&w.Entry), nil
	}
	old, err := p.prev(ctx, w)
	return old != nil && p.v.scope.Sees(&old.Entry), err
}

// prev returns the version before, nil for none.
func (p *past) prev(ctx context.Context, w *Version) (*Version, error) {
	if w.Prev == 0 {
		return nil, nil
	}
	name := w.Entry.Name
	all, known := p.before[name]
	if !known {
		for o, err := range p.h.Versions(ctx, name) {
			if isNotFound(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			all = append(all, o)
		}
		p.before[name] = all
	}
	// A change may hold several versions of one name; the newest stands first.
	if i := slices.IndexFunc(all, func(o Version) bool { return o.Seq == w.Prev }); i >= 0 {
		return &all[i], nil
	}
	return nil, nil
}

// Log implements [Historian]. Of a change that touched what is outside as well,
// only the inside is told, and neither its note nor its hash, which are about
// all of it.
func (v *scoped) Log(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		h, err := v.historian()
		if err != nil {
			yield(Change{}, err)
			return
		}
		p := v.past(h)
		for c, err := range h.Log(ctx) {
			if err != nil {
				yield(Change{}, err)
				return
			}
			seen, err := p.cut(ctx, c)
			if err != nil {
				yield(Change{}, err)
				return
			}
			if len(seen.Versions) > 0 && !yield(seen, nil) {
				return
			}
		}
	}
}

// cut returns the part of a change that is inside.
func (p *past) cut(ctx context.Context, c Change) (Change, error) {
	all := c.Versions
	c.Versions, c.Hash = nil, ""
	for i := range all {
		in, err := p.sees(ctx, &all[i])
		if err != nil {
			return c, err
		}
		if in {
			c.Versions = append(c.Versions, all[i])
		}
	}
	if len(c.Versions) < len(all) {
		c.Note = ""
		for i := range c.Versions {
			c.Versions[i].Note = ""
		}
	}
	return c, nil
}

// Versions implements [Historian].
func (v *scoped) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		h, err := v.historian()
		if err != nil {
			yield(Version{}, err)
			return
		}
		p := v.past(h)
		found := false
		for w, err := range h.Versions(ctx, name) {
			in := false
			if err == nil {
				in, err = p.sees(ctx, &w)
			}
			if err != nil {
				yield(Version{}, err)
				return
			}
			if !in {
				continue
			}
			found = true
			w.Note = "" // it may be about other entries of the same change
			if !yield(w, nil) {
				return
			}
		}
		if !found {
			yield(Version{}, &NameError{name, ErrNotFound})
		}
	}
}

// SeqAt implements [Historian].
func (v *scoped) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	h, err := v.historian()
	if err != nil {
		return 0, err
	}
	return h.SeqAt(ctx, t)
}

// AsOf implements [Historian].
func (v *scoped) AsOf(ctx context.Context, seq uint64) (Store, error) {
	h, err := v.historian()
	if err != nil {
		return nil, err
	}
	then, err := h.AsOf(ctx, seq)
	if err != nil {
		return nil, err
	}
	return &scopedView{base: then, past: v.past(h)}, nil
}

// scopedView is a scope as it stood once.
type scopedView struct {
	base Store

	mu   sync.Mutex // guards past
	past *past
}

func (s *scopedView) sees(ctx context.Context, e *Entry) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.past.sees(ctx, &Version{Entry: *e, Verb: VerbUpdate})
}

func (s *scopedView) Get(ctx context.Context, name string) (Entry, error) {
	e, err := s.base.Get(ctx, name)
	if err != nil {
		return e, err
	}
	if in, err := s.sees(ctx, &e); err != nil || !in {
		return Entry{}, firstError(err, &NameError{name, ErrNotFound})
	}
	return e, nil
}

func (s *scopedView) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range s.base.Entries(ctx, f) {
			in := false
			if err == nil {
				in, err = s.sees(ctx, &e)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if in && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *scopedView) Apply(ctx context.Context, ops ...Op) error { return s.base.Apply(ctx, ops...) }
func (s *scopedView) Close() error                               { return s.base.Close() }

func firstError(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// writable refuses what changes the past of a scope that is read-only.
func (v *scoped) writable() (Historian, error) {
	if v.scope.ReadOnly {
		return nil, fmt.Errorf("%w: only reading is allowed within %s", ErrReadOnly, v.scope.title())
	}
	return v.historian()
}

// Revert implements [Historian]. A change can be undone here when all that it
// touched, and what the undoing puts back, is inside and may be changed here.
func (v *scoped) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	h, err := v.writable()
	if err != nil {
		return 0, err
	}
	p := v.past(h)
	left := map[uint64]bool{}
	for _, s := range seqs {
		left[s] = true
	}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return 0, err
		}
		if len(left) == 0 || c.Seq < slices.Min(seqs) {
			break
		}
		if !left[c.Seq] {
			continue
		}
		delete(left, c.Seq)
		seen, err := p.cut(ctx, c)
		if err != nil {
			return 0, err
		}
		switch {
		case len(seen.Versions) == 0:
			left[c.Seq] = true // as if it were not there
			continue
		case len(seen.Versions) < len(c.Versions):
			return 0, fmt.Errorf("%w: change %d cannot be undone within %s", ErrUnsupported, c.Seq, v.scope.title())
		}
		for i := range c.Versions {
			w := &c.Versions[i]
			old, err := p.prev(ctx, w)
			if err != nil {
				return 0, err
			}
			if err := v.mayPutBack(w, old); err != nil {
				return 0, fmt.Errorf("undoing change %d: %w", c.Seq, err)
			}
		}
	}
	for _, s := range seqs {
		if left[s] {
			return 0, fmt.Errorf("%w: there is no change %d", ErrNotFound, s)
		}
	}
	return h.Revert(v.stamp(ctx), seqs...)
}

// mayPutBack reports why an entry cannot go from one version to another: both
// must be inside, and open to changes. Either may be nil, or a removal.
func (v *scoped) mayPutBack(from, to *Version) error {
	for _, w := range []*Version{from, to} {
		if w == nil || w.Verb == VerbRemove {
			continue
		}
		if !v.scope.Sees(&w.Entry) {
			return &InvalidError{Field: "entry", Value: w.Entry.Name, Reason: "was outside of " + v.scope.title() + " before"}
		}
		if err := v.scope.mayChange(&w.Entry); err != nil {
			return err
		}
	}
	return nil
}

// Restore implements [Historian].
func (v *scoped) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	for try := 0; ; try++ {
		n, err := v.restore(ctx, name, seq, nil)
		if errors.Is(err, ErrConflict) && try < maxRaces {
			continue // others changed the entry meanwhile: look again
		}
		return n, err
	}
}

// RestoreIf implements [Restorer].
func (v *scoped) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return v.restore(ctx, name, seq, &version)
}

// restore restores a version of what is inside, which the entry as it is now, or
// last was, must be: the change is bound to the version that was looked at, so
// that nobody can move it out, or put another in its place, in between. Where
// want is not nil, that version must be the wanted one.
func (v *scoped) restore(ctx context.Context, name string, seq uint64, want *uint64) (uint64, error) {
	h, err := v.writable()
	if err != nil {
		return 0, err
	}
	r, ok := h.(Restorer)
	if !ok {
		return 0, fmt.Errorf("%w: it cannot restore within %s", ErrUnsupported, v.scope.title())
	}
	now, err := h.Get(ctx, name)
	switch {
	case isNotFound(err):
	case err != nil:
		return 0, err
	case !v.scope.Sees(&now):
		return 0, &NameError{name, ErrNotFound}
	}
	if want != nil && *want != now.Version {
		return 0, &ConflictError{Name: name, Want: *want, Have: now.Version}
	}
	for w, err := range v.Versions(ctx, name) {
		if err != nil {
			return 0, err
		}
		if w.Seq != seq {
			continue
		}
		var from *Version
		if now.Version != 0 {
			from = &Version{Entry: now, Verb: VerbUpdate}
		}
		if err := v.mayPutBack(from, &w); err != nil {
			return 0, err
		}
		return r.RestoreIf(v.stamp(ctx), name, seq, now.Version)
	}
	return 0, fmt.Errorf("%w: %q has no version %d", ErrNotFound, name, seq)
}
