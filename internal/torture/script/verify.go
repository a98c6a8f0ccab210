// This file holds the verdict on what a crash left: a store that holds what was
// acknowledged, and that can be used.

package script

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/torture/rig"
)

// Verdict examines a store that a crash left in that file system: it opens; it
// holds one of the allowed states; it takes three more changes; its own check
// finds nothing wrong; and what is opened then shows the changes. seed makes
// the clock and the random numbers. With seal, the store is closed before it
// is opened again, which leaves a seal. It returns the state that the store was in.
func Verdict(fsys *rig.FS, allowed []*State, seed uint64, seal bool) (*State, error) {
	now := time.Unix(1776200000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	o := Options(fsys, clock, seeded(seed^0x9e3779b97f4a7c15))
	m, err := oxbow.Open(rig.Store, o)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	got, err := collect(m)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	st, err := match(got, m, allowed)
	if err != nil {
		return nil, err
	}
	want, err := use(m, st, got)
	if err != nil {
		return nil, err
	}
	rep, err := m.Store().(oxbow.Checker).Check(context.Background())
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	for _, p := range rep.Problems {
		if !harmless(p) {
			return nil, fmt.Errorf("check finds at byte %d: %s", p.Offset, p.What)
		}
	}
	if seal {
		if err := m.Close(); err != nil {
			return nil, fmt.Errorf("close: %w", err)
		}
	}
	again, err := oxbow.Open(rig.Store, o)
	if err != nil {
		return nil, fmt.Errorf("open again: %w", err)
	}
	got, err = collect(again)
	if err != nil {
		return nil, fmt.Errorf("read again: %w", err)
	}
	if d := differ(got, want); d != "" {
		return nil, fmt.Errorf("opened again: %s", d)
	}
	return st, nil
}

// harmless tells what a crash may rightly leave behind: a file that an
// interrupted rewrite did not get to rename.
func harmless(p oxbow.Problem) bool {
	return p.Offset == -1 && strings.HasPrefix(p.What, "a rewrite was interrupted and left ")
}

// match returns the state that the store is in.
func match(got []oxbow.Entry, m *oxbow.Memory, allowed []*State) (*State, error) {
	stats, err := m.Store().(oxbow.Counter).Stats(context.Background())
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	var why []string
	for _, st := range allowed {
		d := differ(got, st.Entries)
		if d == "" && stats.Last != st.Model.seq {
			d = fmt.Sprintf("it ends at change %d, want %d", stats.Last, st.Model.seq)
		}
		if d == "" {
			return st, nil
		}
		why = append(why, d)
	}
	return nil, fmt.Errorf("the store holds none of the %d states that may be: %s", len(allowed), strings.Join(why, "; or: "))
}

// Differ returns an error that says where got is not what is wanted, times and
// all, nil when it is.
func Differ(got, want []oxbow.Entry) error {
	if d := differ(got, want); d != "" {
		return errors.New(d)
	}
	return nil
}

// differ says where got is not what is wanted, "" when it is. Times count where
// they are known.
func differ(got, want []oxbow.Entry) string {
	for i := range got {
		if i >= len(want) {
			return "it has entry " + describe(&got[i]) + ", which is not to be there"
		}
		a, b := &got[i], &want[i]
		timed := !b.Updated.IsZero()
		if !alike(a, b) || timed && (!a.Created.Equal(b.Created) || !a.Updated.Equal(b.Updated)) {
			return fmt.Sprintf("entry %d is %s of %s, want %s of %s", i, describe(a), a.Updated.Format(time.StampNano),
				describe(b), b.Updated.Format(time.StampNano))
		}
	}
	if len(got) < len(want) {
		return "it lacks entry " + describe(&want[len(got)])
	}
	return ""
}

// use makes three changes and returns what the store holds then.
func use(m *oxbow.Memory, st *State, have []oxbow.Entry) ([]oxbow.Entry, error) {
	ctx := context.Background()
	seq := st.Model.seq
	if err := m.Apply(ctx, oxbow.Add{Name: "new 1", Content: "first after"}, oxbow.Add{Name: "new 2", Content: "second after"}); err != nil {
		return nil, fmt.Errorf("a first change: %w", err)
	}
	e, err := m.Remember(ctx, oxbow.Entry{Name: "new 2", Content: "second after, changed"})
	if err != nil {
		return nil, fmt.Errorf("a second change: %w", err)
	}
	if err := m.Forget(ctx, "new 1"); err != nil {
		return nil, fmt.Errorf("a third change: %w", err)
	}
	if e.ID != st.Model.ids+2 || e.Version != seq+2 {
		return nil, fmt.Errorf("a new entry got ID %d and version %d, want %d and %d", e.ID, e.Version, st.Model.ids+2, seq+2)
	}
	got, err := collect(m)
	if err != nil {
		return nil, fmt.Errorf("read after three changes: %w", err)
	}
	want := append(have[:len(have):len(have)], e)
	if d := differ(got, want); d != "" {
		return nil, fmt.Errorf("after three changes: %s", d)
	}
	return got, nil
}
