// This file tests that a memory cannot exceed its quota.

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// limited opens a memory with a quota. It returns the memory and the clock of the quota, in nanoseconds since 1970.
func limited(t *testing.T, q auth.Quota) (*oxbow.Memory, *atomic.Int64) {
	t.Helper()
	var clock atomic.Int64
	l := NewLimit(q, func() time.Time { return time.Unix(0, clock.Load()) })
	return storetest.Open(
		t,
		"m.oxbow",
		&oxbow.Options{
			FS: vfs.NewMem(),
			Screen: func(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
				return ops, l.Allow(ctx, s, ops)
			}, History: l.WrapHistory,
		},
	), &clock
}

// refused reports whether err is a QuotaError for this bound.
func refused(err error, bound string) bool {
	e, ok := errors.AsType[*oxbow.QuotaError](err)
	return ok && e.Bound == bound && errors.Is(err, oxbow.ErrQuota)
}

func TestEntries(t *testing.T) {
	m, _ := limited(t, auth.Quota{MaxEntries: 3})
	ctx := t.Context()
	add := func(name string) error { return m.Apply(ctx, oxbow.Add{Name: name, Content: name}) }
	for _, name := range []string{"a", "b", "c"} {
		if err := add(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := add("d"); !refused(err, "entries") {
		t.Errorf("a fourth entry: %v", err)
	}
	if err := m.Apply(ctx, oxbow.Update{Name: "a", Content: "new"}); err != nil {
		t.Errorf("an update of a full memory: %v", err)
	}
	if err := m.Apply(ctx, oxbow.Remove{Name: "b"}, oxbow.Add{Name: "e", Content: "e"}); err != nil {
		t.Errorf("one for another: %v", err)
	}
	if err := m.Apply(
		ctx,
		oxbow.Add{Name: "f", Content: "f"},
		oxbow.Update{Name: "a", Content: "half"},
	); !refused(err, "entries") {
		t.Errorf("a change with an entry too many: %v", err)
	}
	if e, err := m.Get(ctx, "a"); err != nil || e.Content != "new" {
		t.Errorf("half of a change was made: %q, %v", e.Content, err)
	}
}

func TestBytes(t *testing.T) {
	m, _ := limited(t, auth.Quota{MaxBytes: 20_000})
	ctx := t.Context()
	var err error
	for n := 0; err == nil && n < 100; n++ {
		err = m.Apply(ctx, oxbow.Add{Name: fmt.Sprint(n), Content: strings.Repeat("x", 1000)})
	}
	if !refused(err, "bytes") {
		t.Errorf("a full memory: %v", err)
	}
	if err := m.Apply(ctx, oxbow.Remove{Name: "0"}); err != nil {
		t.Errorf("forgetting in a full memory: %v", err)
	}
	s, err := m.Store().(oxbow.Counter).Stats(ctx)
	if err != nil || s.Used > 21_000 || s.Used < 15_000 {
		t.Errorf("the memory has %d bytes, %v", s.Used, err)
	}
}

func TestRate(t *testing.T) {
	m, clock := limited(t, auth.Quota{MaxWritesPerSecond: 4})
	ctx := t.Context()
	write := func() error { return m.Apply(ctx, oxbow.Add{Name: fmt.Sprint(clock.Add(1)), Content: "x"}) }
	for range 4 {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	err := write()
	if e, ok := errors.AsType[*oxbow.QuotaError](err); !ok || e.Wait <= 0 || e.Wait > 250*time.Millisecond {
		t.Fatalf("a fifth change: %+v", err)
	}
	clock.Add(int64(250 * time.Millisecond))
	if err := write(); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	if err := m.Apply(ctx, oxbow.Remove{Name: "1"}); !refused(err, "changes a second") {
		t.Errorf("forgetting too fast: %v", err)
	}
	clock.Add(int64(time.Hour))
	made := 0
	for write() == nil {
		made++
	}
	if made != 4 {
		t.Errorf("after an hour %d changes were made at once, want 4", made)
	}
}

// TestWritersAtOnce tests that concurrent writers cannot exceed the quota and do not wait forever.
func TestWritersAtOnce(t *testing.T) {
	m, clock := limited(t, auth.Quota{MaxEntries: 50})
	var wg sync.WaitGroup
	var made atomic.Int64
	for i := range 32 {
		wg.Go(func() {
			for j := range 5 {
				// Some of these changes fail.
				err := m.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint(i, "-", j%4), Content: "x"})
				switch {
				case err == nil:
					made.Add(1)
				case !refused(err, "entries") && !errors.Is(err, oxbow.ErrExists):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n > 50 || n < 30 {
		t.Errorf("%d entries were made, of 50", n)
	}
	for clock.Add(int64(2 * maxPendingChangeAge)); made.Load() < 50; made.Add(1) {
		if err := m.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("late ", made.Load()), Content: "x"}); err != nil {
			t.Fatalf("with %d entries: %v", made.Load(), err)
		}
	}
	if err := m.Apply(t.Context(), oxbow.Add{Name: "one more", Content: "x"}); !refused(err, "entries") {
		t.Errorf("one more: %v", err)
	}
}

// TestUndo tests that Restore and Revert fail if the text that they bring back would exceed the memory's quota. This
// must also be so if they are called through a scope, which shows only a part of the memory.
func TestUndo(t *testing.T) {
	m, clock := limited(t, auth.Quota{MaxEntries: 2, MaxBytes: 3000, MaxWritesPerSecond: 1000})
	ctx := t.Context()
	apply := func(ops ...oxbow.Op) error { clock.Add(int64(time.Second)); return m.Apply(ctx, ops...) }
	long := strings.Repeat("x", 900)
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "a", Content: long},
		oxbow.Add{Name: "b", Content: "b"},
		oxbow.Remove{Name: "b"},
		oxbow.Add{Name: "c", Content: "c"},
	} {
		if err := apply(op); err != nil {
			t.Fatal(err)
		}
	}
	notes, _ := auth.Permissions{Kinds: []string{"note"}}.Scope("notes")
	part := scope.Within(m, notes)
	defer part.Close()
	for of, m := range map[string]*oxbow.Memory{"the memory": m, "a scope": part} {
		if _, err := m.Restore(ctx, "b", 2); !refused(err, "entries") {
			t.Errorf("Restore of a third entry in %s = %v", of, err)
		}
		if _, err := m.Revert(ctx, 3); !refused(err, "entries") {
			t.Errorf("Revert of a removal in %s = %v", of, err)
		}
	}
	for _, op := range []oxbow.Op{oxbow.Update{Name: "a", Content: "short"}, oxbow.Update{Name: "c", Content: long}} {
		if err := apply(op); err != nil {
			t.Fatal(err)
		}
	}
	for of, m := range map[string]*oxbow.Memory{"the memory": m, "a scope": part} {
		if _, err := m.Restore(ctx, "a", 1); !refused(err, "bytes") {
			t.Errorf("Restore of a long text in %s = %v", of, err)
		}
		if _, err := m.Revert(ctx, 5); !refused(err, "bytes") {
			t.Errorf("Revert to a long text in %s = %v", of, err)
		}
		h, err := m.History()
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Apply(ctx, oxbow.Update{Name: "c", Content: long + long}); !refused(err, "bytes") {
			t.Errorf("Apply of a history in %s = %v", of, err)
		}
	}
	if _, err := m.Revert(ctx, 4, 6); err != nil {
		t.Errorf("Revert that removes = %v", err)
	}
	if _, err := m.Restore(ctx, "c", 4); err != nil {
		t.Errorf("Restore of a short text = %v", err)
	}
	if _, err := m.Revert(ctx, 99); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Revert of no change = %v", err)
	}
}
