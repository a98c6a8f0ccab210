// This file makes random changes to a store and tests that the method Since returns the changes that lead to the
// store's entries.

package logstore

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// randomHistory makes random changes to a store.
type randomHistory struct {
	t    *testing.T
	fs   vfs.FS
	rand *rand.Rand
	now  *atomic.Int64
	runs int // number of changes, which makes each content unique
}

func newRandomHistory(t *testing.T, seed uint64) *randomHistory {
	h := &randomHistory{t: t, fs: vfs.NewMem(), rand: rand.New(rand.NewPCG(seed, 7)), now: new(atomic.Int64)}
	h.now.Store(1776200000)
	return h
}

func (h *randomHistory) open(o Options) *DB {
	h.t.Helper()
	o.Clock = func() time.Time { return time.Unix(h.now.Add(1), 0) }
	return openTest(h.t, h.fs, "memory.oxbow", o)
}

// change makes one random change in m, and reports whether the change rewrote the log. If the store refuses the change
// with one of the expected errors, change returns false. Any other error fails the test.
func (h *randomHistory) change(m *DB) (rewritten bool) {
	h.t.Helper()
	ctx := store.WithOpID(h.t.Context(), fmt.Sprint("op ", h.rand.IntN(40)))
	if h.rand.IntN(3) > 0 {
		ctx = h.t.Context()
	}
	name := func() string { return fmt.Sprint("name ", h.rand.IntN(12)) }
	var err error
	switch n := h.rand.IntN(40); {
	case n < 28:
		var ops []store.Op
		for range 1 + h.rand.IntN(3)*h.rand.IntN(2) {
			ops = append(ops, h.op(name()))
		}
		err = m.Apply(ctx, ops...)
	case n < 32:
		last := uint64(1 + h.rand.IntN(1+h.runs))
		_, err = m.Revert(ctx, last)
	case n < 36:
		_, err = m.Restore(ctx, name(), uint64(1+h.rand.IntN(1+h.runs)))
	case n < 37:
		_, err = m.Redact(ctx, name(), false)
		rewritten = err == nil
	case n < 38:
		var rep store.CompactReport
		rep, err = m.Compact(ctx, time.Unix(h.now.Load()-int64(h.rand.IntN(30)), 0), false)
		rewritten = err == nil && rep.Seq != 0
	default:
		_, _, err = store.Undo(ctx, m, 1+h.rand.IntN(2))
	}
	h.runs++
	for _, want := range []error{nil, store.ErrNotFound, store.ErrExists, store.ErrConflict, store.ErrInvalid,
		store.ErrUnsupported} {
		if errors.Is(err, want) {
			return rewritten
		}
	}
	h.t.Fatal(err)
	return false
}

func (h *randomHistory) op(name string) store.Op {
	content := fmt.Sprint("content ", h.runs, " ", h.rand.IntN(100))
	aliases := []string{fmt.Sprint("alias ", h.rand.IntN(12))}
	switch h.rand.IntN(6) {
	case 0, 1:
		created := []time.Time{
			{},
			time.Unix(1776200000+int64(h.runs), 0),
			time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC),
		}[h.runs%4]
		return store.Add{Name: name, Content: content, Aliases: aliases,
			Kind: store.Kind(h.rand.IntN(len(store.Kinds()))), Created: created}
	case 2:
		return store.Update{
			Name:    name,
			Content: content,
			Aliases: aliases,
			Labels:  []store.Label{{Key: "project", Value: fmt.Sprint("p", h.runs%4)}},
		}
	case 3:
		return store.Alias{Name: name, Aliases: aliases}
	case 4:
		if h.runs%6 == 0 {
			return store.Relabel{Name: name, Labels: []store.Label{{Key: store.LabelQuarantine, Value: "yes"}}}
		}
		return store.Relabel{
			Name: name,
			Labels: []store.Label{
				{Key: store.LabelConfidence, Value: fmt.Sprint(".", h.runs%10)},
				{Key: "session", Value: "s"},
				{Key: "tag", Value: fmt.Sprint(h.rand.IntN(4))},
			},
		}
	}
	return store.Remove{Name: name}
}

// entriesByID returns all entries of a store, by ID.
func entriesByID(t *testing.T, s store.Store) map[uint64]store.Entry {
	t.Helper()
	es := map[uint64]store.Entry{}
	var last uint64
	for e, err := range s.Entries(t.Context(), store.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.ID <= last {
			t.Fatalf("entry %d comes after entry %d", e.ID, last)
		}
		es[e.ID], last = e, e.ID
	}
	return es
}

func TestSinceIsTheDifference(t *testing.T) {
	type place struct {
		pos     store.Position
		entries map[uint64]store.Entry
	}
	for seed := range uint64(60) {
		h := newRandomHistory(t, seed)
		m := h.open(Options{})
		seq := m
		var places []place
		for range 60 {
			if h.change(m) {
				places = nil // The store need not accept positions from before a rewrite.
			}
			if h.rand.IntN(4) == 0 {
				pos, err := seq.Position(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, place{pos, entriesByID(t, m)})
			}
		}
		again := h.open(Options{ReadOnly: true})
		for _, m := range []*DB{m, again} {
			want := entriesByID(t, m)
			for _, p := range places {
				copied := maps.Clone(p.entries)
				for d, err := range m.Since(t.Context(), p.pos) {
					if err != nil {
						t.Fatal(err)
					}
					delete(copied, d.ID)
					if d.Entry != nil {
						copied[d.ID] = *d.Entry
					}
				}
				if !reflect.DeepEqual(copied, want) {
					t.Fatalf(
						"seed %d: the entries at a position and what changed since are\n%v\nwant\n%v",
						seed,
						copied,
						want,
					)
				}
			}
		}
		_ = again.Close()
		checkAndCloseStore(t, m)
	}
}

// TestSincePositionUnknown tests that a position of another store, or from before a rewrite, is refused.
func TestSincePositionUnknown(t *testing.T) {
	h := newRandomHistory(t, 1)
	m := h.open(Options{})
	defer checkAndCloseStore(t, m)
	seq := m
	for _, name := range []string{"a", "b"} {
		if err := m.Apply(t.Context(), store.Add{Name: name, Content: "the content of " + name}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := seq.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := newRandomHistory(t, 2)
	o := other.open(Options{})
	defer checkAndCloseStore(t, o)
	if err := o.Apply(t.Context(), store.Add{Name: "a", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	foreign, _ := o.Position(t.Context())
	if _, err := m.Redact(t.Context(), "a", false); err != nil {
		t.Fatal(err)
	}
	damaged := []byte(before)
	damaged[40] ^= 1
	for _, p := range []store.Position{before, foreign, store.Position(damaged), "", before[:63], before + "x"} {
		var got []error
		for _, err := range seq.Since(t.Context(), p) {
			got = append(got, err)
		}
		if len(got) != 1 || !errors.Is(got[0], store.ErrPosition) {
			t.Errorf("Since(%x) = %v, want ErrPosition", p, got)
		}
	}
}

// TestSinceBesideReset redacts entries while another goroutine looks up the changes since the position before the
// redaction. As soon as the store has its new position, the old position must be unknown. It must never seem that
// nothing has changed.
func TestSinceBesideReset(t *testing.T) {
	m := newRandomHistory(t, 1).open(Options{})
	defer checkAndCloseStore(t, m)
	for i := range 40 {
		name := fmt.Sprint("entry ", i)
		if err := m.Apply(t.Context(), store.Add{Name: name, Content: "secret"}); err != nil {
			t.Fatal(err)
		}
		before, err := m.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var lookups sync.WaitGroup
		for range 2 {
			lookups.Go(func() {
				for {
					m.mu.RLock()
					hasOldPosition := m.recentDeltas.newestPosition == before
					steps, isKnown := m.recentDeltas.findLaterDeltaSteps(before)
					m.mu.RUnlock()
					if !hasOldPosition {
						if isKnown {
							t.Errorf("redaction %d: there are %d steps since the position before it", i, len(steps))
						}
						return
					}
				}
			})
		}
		if _, err := m.Redact(t.Context(), name, false); err != nil {
			t.Error(err)
			return
		}
		lookups.Wait()
	}
}

// TestSinceOfAnotherProcess tests that a reader with a position receives the changes of another process.
func TestSinceOfAnotherProcess(t *testing.T) {
	h := newRandomHistory(t, 3)
	m, reader := h.open(Options{}), h.open(Options{})
	defer checkAndCloseStore(t, m)
	defer checkAndCloseStore(t, reader)
	seq := reader
	pos, err := seq.Position(t.Context())
	if err != nil || pos != "" {
		t.Fatalf("the position of an empty store is %x, %v", pos, err)
	}
	var got []string
	for i := range 3 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
		next, err := seq.Position(t.Context())
		if err != nil || next == pos {
			t.Fatalf("the position did not move: %v", err)
		}
		for d, err := range seq.Since(t.Context(), pos) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Entry.Name)
		}
		pos = next
	}
	if !slices.Equal(got, []string{"name 0", "name 1", "name 2"}) {
		t.Errorf("Since yielded %q", got)
	}
}
