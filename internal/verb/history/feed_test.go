// A change feed tells listeners which entries have changed. This file tests the feed with changes by this process, with
// changes by other processes, and with a listener that may see only a part of the memory.

package history

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// feeds is the change feed of the memory m. The feed checks for changes whenever the test sends a time to the channel
// ticks.
type feeds struct {
	*ChangeFeed
	t     *testing.T
	m     *oxbow.Memory
	ticks chan time.Time
	polls int // number of running pollers
}

func newFeeds(t *testing.T, path string) *feeds {
	f := &feeds{t: t, m: storetest.Open(t, path, nil), ticks: make(chan time.Time)}
	f.ChangeFeed = NewChangeFeed(func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
		return f.m, nil
	}, func() (<-chan time.Time, func()) {
		f.polls++
		return f.ticks, func() {}
	})
	return f
}

// listen returns a listener for the changes in m, which is f.m or a memory with a part of its entries. The listener
// first returns the changes after the change with the number in after. If after is "", it returns no old changes.
func (f *feeds) listen(m *oxbow.Memory, after string) *ChangeListener {
	f.t.Helper()
	l, err := f.Listen(
		f.t.Context(),
		&verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
			return m, nil
		}},
		after,
	)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(l.Close)
	return l
}

// take waits until the listener l has changes, and takes them. It returns the verb and name of each changed entry, such
// as "add one", and the taken changes. It checks that the changes contain no text of an entry.
func (f *feeds) take(l *ChangeListener) (names []string, n UnreadChanges) {
	f.t.Helper()
	select {
	case <-l.ChangesReady:
	case <-time.After(10 * time.Second):
		f.t.Fatal("the listener was not woken")
	}
	n, err := l.ReadChanges(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range n.Changes {
		for _, e := range c.Entries {
			names = append(names, e.Verb+" "+e.Name)
			if e.Snippet != "" {
				f.t.Errorf("the news of %s hold text: %q", e.Name, e.Snippet)
			}
		}
	}
	return names, n
}

func (f *feeds) add(m *oxbow.Memory, name, project string) {
	f.t.Helper()
	if err := m.Apply(f.t.Context(), oxbow.Add{Name: name, Content: "text of " +
		name, Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: project}}}); err != nil {
		f.t.Fatal(err)
	}
}

func TestFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.oxbow")
	f := newFeeds(t, path)
	f.add(f.m, "old", "a")
	part := scope.Within(
		f.m,
		scope.Scope{Any: []oxbow.Filter{{Terms: []oxbow.Term{{Key: oxbow.LabelProject, Values: []string{"a"}}}}}},
	)
	all, some := f.listen(f.m, ""), f.listen(part, "")

	// A change by this process arrives at once, without a tick, which is the time at which the feed looks for changes
	// of other processes. The listener some, for entries of project a, gets only the changes of these entries.
	f.add(f.m, "one", "a")
	f.add(f.m, "two", "b")
	if got, _ := f.take(all); !slices.Equal(got, []string{"add one", "add two"}) {
		t.Errorf("all of it hears of %q", got)
	}
	if got, n := f.take(some); !slices.Equal(got, []string{"add one"}) || n.LastSeq != 3 {
		t.Errorf("a part hears of %q up to %d", got, n.LastSeq)
	}

	// A change by another process arrives at the next tick.
	other, err := oxbow.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.add(other, "three", "a")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	f.ticks <- time.Time{}
	if got, _ := f.take(some); !slices.Equal(got, []string{"add three"}) {
		t.Errorf("of another process it hears of %q", got)
	}

	// An entry that leaves the part is reported as removed only once.
	if err := f.m.Apply(
		t.Context(),
		oxbow.Relabel{Name: "three", Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: "b"}}},
	); err != nil {
		t.Fatal(err)
	}
	if got, n := f.take(some); !slices.Equal(got, []string{"remove three"}) || n.Changes[0].Note != "" {
		t.Errorf("of what left a part hears %q", got)
	}
	if err := f.m.Apply(
		t.Context(),
		oxbow.Relabel{Name: "three", Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: "c"}}},
	); err != nil {
		t.Fatal(err)
	}
	if got, _ := f.take(some); len(got) > 0 {
		t.Errorf("of what is outside a part hears %q", got)
	}

	// A listener that connects again gets the changes that it has missed. If its last change is unknown or there are
	// too many changes, MustReadEverything is set instead: the listener must read all entries again.
	if got, n := f.take(f.listen(f.m, "1")); !slices.Equal(
		got,
		[]string{"add one", "add two", "add three", "label three", "label three"},
	) || n.MustReadEverything {
		t.Errorf("after change 1 there is %q, reset %v", got, n.MustReadEverything)
	}
	if _, n := f.take(f.listen(f.m, "99")); !n.MustReadEverything || n.LastSeq != 6 {
		t.Errorf("after a change that never was there is %+v, want a reset at 6", n)
	}
	for i := range maxReturnedChanges + 1 {
		f.add(f.m, "many "+time.Duration(i).String(), "a")
	}
	if _, n := f.take(all); !n.MustReadEverything || len(n.Changes) != 0 {
		t.Errorf("a listener that is far behind gets %d changes, reset %v", len(n.Changes), n.MustReadEverything)
	}
	if f.polls != 1 {
		t.Errorf("%d pollers ran for all listeners, want 1", f.polls)
	}
}

// TestFeedEnds tests that the poller runs only while there are listeners.
func TestFeedEnds(t *testing.T) {
	f := newFeeds(t, filepath.Join(t.TempDir(), "m.oxbow"))
	a, b := f.listen(f.m, ""), f.listen(f.m, "")
	a.Close()
	f.ticks <- time.Time{} // The poller is running, because it receives the tick.
	b.Close()
	if f.stopPoller != nil || len(f.listeners) != 0 {
		t.Errorf("%d listeners are left, and the poller runs: %v", len(f.listeners), f.stopPoller != nil)
	}
	l := f.listen(f.m, "")
	f.ticks <- time.Time{}
	f.add(f.m, "x", "a")
	if got, _ := f.take(l); !slices.Equal(got, []string{"add x"}) || f.polls != 2 {
		t.Errorf("a later listener hears of %q from poller %d", got, f.polls)
	}
}

// TestFeedReset tests that listeners get a reset after the log was rewritten.
func TestFeedReset(t *testing.T) {
	f := newFeeds(t, filepath.Join(t.TempDir(), "m.oxbow"))
	f.add(f.m, "x", "a")
	l := f.listen(f.m, "")
	if _, err := f.m.Redact(t.Context(), "x", false); err != nil {
		t.Fatal(err)
	}
	if _, n := f.take(l); !n.MustReadEverything {
		t.Errorf("after an erasure there is %+v, want a reset", n)
	}
}
