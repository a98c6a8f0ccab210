// This file lets two clients and the server's own process make random changes. The tests compare the results with a
// model, which is a simple implementation of a memory in Go maps.

package remote

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mirror is a copy of a store that is kept up to date by the events of a watcher.
type mirror struct {
	store   oxbow.Store
	entries map[uint64]oxbow.Entry
	reset   bool // the next refresh must read all entries again
	resets  int
}

func newMirror(t *testing.T, s oxbow.Store) *mirror {
	m := &mirror{store: s, reset: true}
	s.(oxbow.Watcher).Watch(func(e oxbow.Event) {
		if e.Reset {
			m.reset = true
			m.resets++
		}
		for _, d := range e.Changes {
			if d.Entry != nil {
				m.entries[d.ID] = *d.Entry
			} else {
				delete(m.entries, d.ID)
			}
		}
	})
	m.agree(t)
	return m
}

// agree refreshes the mirror, and checks that it equals the store.
func (m *mirror) agree(t *testing.T) {
	t.Helper()
	if err := m.store.(oxbow.Watcher).Refresh(t.Context()); err != nil {
		t.Fatalf("Refresh() = %v", err)
	}
	want := map[uint64]oxbow.Entry{}
	for e, err := range m.store.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatalf("Entries() = %v", err)
		}
		want[e.ID] = e
	}
	if m.reset {
		m.entries, m.reset = maps.Clone(want), false
	}
	if !reflect.DeepEqual(m.entries, want) {
		t.Fatalf("by the events, there are %v, want %v", m.entries, want)
	}
}

// model contains the content and the labels of each entry, by name.
type model map[string]string

// apply returns the model after a change, or the error with which the change must be refused.
func (m model) apply(ops []oxbow.Op) (model, error) {
	next := maps.Clone(m)
	for _, op := range ops {
		name := op.Target()
		old, there := next[name]
		if _, isAdd := op.(oxbow.Add); isAdd == there {
			if isAdd {
				return m, oxbow.ErrExists
			}
			return m, oxbow.ErrNotFound
		}
		content, labels, _ := strings.Cut(old, "|")
		switch op := op.(type) {
		case oxbow.Add:
			content, labels = op.Content, fmt.Sprint(oxbow.SortLabels(op.Labels))
		case oxbow.Update:
			content, labels = op.Content, fmt.Sprint(oxbow.SortLabels(op.Labels))
		case oxbow.Relabel:
			labels = fmt.Sprint(oxbow.SortLabels(op.Labels))
		}
		next[name] = content + "|" + labels
		if oxbow.VerbRemove == verbOf(op) {
			delete(next, name)
		}
	}
	return next, nil
}

func verbOf(op oxbow.Op) oxbow.Verb {
	if _, ok := op.(oxbow.Remove); ok {
		return oxbow.VerbRemove
	}
	return oxbow.VerbUpdate
}

func randomOp(r *rand.Rand) oxbow.Op {
	name := fmt.Sprint("e", r.IntN(12))
	content := strings.Repeat("é\n\"<\u2028", r.IntN(200))
	var labels []oxbow.Label
	for range r.IntN(3) {
		labels = append(labels, oxbow.Label{Key: "tag", Value: fmt.Sprint("t", r.IntN(4))})
	}
	switch r.IntN(6) {
	case 0, 1:
		return oxbow.Add{Name: name, Content: content, Labels: labels}
	case 2, 3:
		return oxbow.Update{Name: name, Content: content, Labels: labels}
	case 4:
		return oxbow.Relabel{Name: name, Labels: labels}
	}
	return oxbow.Remove{Name: name}
}

// TestRandom lets two clients, one of which has a scope, and the server itself change entries in turns. Each must see
// the changes of the others at once, and its events must describe all changes.
func TestRandom(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1 // Each seed is slow, and -short must be fast.
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
			part := scope.Within(m, scope.Scope{Any: []oxbow.Filter{{}}})
			stores := []oxbow.Store{m.Store(), dial(t, serve(t, m, nil)), dial(t, serve(t, part, nil))}
			var mirrors []*mirror
			for _, s := range stores {
				mirrors = append(mirrors, newMirror(t, s))
			}
			want := model{}
			for step := range 250 {
				s := stores[r.IntN(len(stores))]
				var ops []oxbow.Op
				for range 1 + r.IntN(3) {
					ops = append(ops, randomOp(r))
				}
				next, refused := want.apply(ops)
				if err := s.Apply(t.Context(), ops...); !errors.Is(err, refused) {
					t.Fatalf("seed %d, step %d: Apply(%.200v) = %v, want %v", seed, step, fmt.Sprint(ops), err, refused)
				}
				want = next
				got := model{}
				for e, err := range stores[r.IntN(len(stores))].Entries(t.Context(), oxbow.Filter{}) {
					if err != nil {
						t.Fatal(err)
					}
					got[e.Name] = e.Content + "|" + fmt.Sprint(e.Labels)
				}
				if !maps.Equal(got, want) {
					t.Fatalf("seed %d, step %d: the entries are %v, want %v", seed, step, got, want)
				}
				mirrors[r.IntN(len(mirrors))].agree(t)
				if step == 200 {
					if _, err := m.Store().(oxbow.Compactor).Compact(
						t.Context(),
						m.Options().Clock(),
						false,
					); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i, m := range mirrors {
				m.agree(t)
				if m.resets > 2 {
					t.Errorf("store %d sent %d resets", i, m.resets)
				}
			}
		})
	}
}

// TestCounters lets goroutines increment the same entries through all interfaces. Each change requires the version
// that the goroutine has read. No increment may be lost.
func TestCounters(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	s := serve(t, m, nil)
	far := []*oxbow.Memory{m, oxbow.New(dial(t, s), nil), oxbow.New(dial(t, s), nil)}
	const each = 20
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		if err := m.Apply(t.Context(), oxbow.Add{Name: name}); err != nil {
			t.Fatal(err)
		}
		for _, m := range slices.Concat(far, far) {
			wg.Go(func() {
				for range each {
					err := m.Edit(t.Context(), name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
						return oxbow.Update{Name: name, Content: old.Content + "1 ", If: old.Version}, nil
					})
					if err != nil {
						t.Errorf("Edit() = %v", err)
					}
				}
			})
		}
	}
	wg.Wait()
	for _, m := range far {
		for _, name := range []string{"a", "b"} {
			if e, err := m.Get(t.Context(), name); err != nil || strings.Count(e.Content, "1") != 6*each {
				t.Errorf("%s is counted up to %d, %v, want %d", name, strings.Count(e.Content, "1"), err, 6*each)
			}
		}
		if hits, err := m.Recall(t.Context(), oxbow.Query{Text: "1"}); err != nil || len(hits) != 2 {
			t.Errorf("Recall() = %d hits, %v, want 2", len(hits), err)
		}
	}
}

// TestFeed checks that the positions in a feed correspond to the store's positions as long as no event was dropped.
func TestFeed(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	part := func() *oxbow.Memory { return scope.Within(m, scope.Scope{Any: []oxbow.Filter{{}}}) }
	first := part()
	s := serve(t, first, nil)
	c := dial(t, s)
	ctx := t.Context()
	apply := func(op oxbow.Op) {
		t.Helper()
		if err := m.Apply(ctx, op); err != nil {
			t.Fatal(err)
		}
	}
	position := func() oxbow.Position {
		t.Helper()
		p, err := c.Position(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	since := func(p oxbow.Position) (n int, err error) {
		for _, err := range c.Since(ctx, p) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	begin := position()
	apply(oxbow.Add{Name: "a", Content: "x"})
	middle := position()
	for range maxFeedEvents - 1 {
		apply(oxbow.Update{Name: "a", Content: "y"})
	}
	if n, err := since(begin); n != maxFeedEvents || err != nil {
		t.Errorf("since the begin, there are %d deltas, %v", n, err)
	}
	apply(oxbow.Remove{Name: "a"})
	if n, err := since(middle); n != maxFeedEvents || err != nil {
		t.Errorf("since the first change, there are %d deltas, %v", n, err)
	}
	if n, err := since(position()); n != 0 || err != nil {
		t.Errorf("since the last change, there are %d deltas, %v", n, err)
	}
	for _, p := range []oxbow.Position{begin, "", "x", middle[:16] +
		"\xff\xff\xff\xff\xff\xff\xff\xff", oxbow.Position(strings.Repeat("x", 24))} {
		if n, err := since(p); n != 0 || !errors.Is(err, oxbow.ErrPosition) {
			t.Errorf("since %q, there are %d deltas, %v, want ErrPosition", p, n, err)
		}
	}
	last := position()
	for range maxEventFeeds {
		s.set(part())
		if p := position(); p == last {
			t.Error("two stores have one position")
		}
	}
	s.set(first)
	if _, err := since(last); !errors.Is(err, oxbow.ErrPosition) {
		t.Errorf("after as many stores as have feeds, the first feed goes on: %v", err)
	}
	last = position()
	for i := range 20 {
		apply(oxbow.Add{Name: fmt.Sprint("large", i), Content: strings.Repeat("x", 1<<20)})
	}
	if _, err := since(last); !errors.Is(err, oxbow.ErrPosition) {
		t.Errorf("after 20 MB, all events are kept: %v", err)
	}
}
