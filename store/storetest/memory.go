// This file contains helpers that open memories and make calls. They end the test if there is an error.

package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// Can says which data a store can store. For everything else, it must return an error that matches
// [oxbow.ErrUnsupported] or [oxbow.ErrInvalid].
type Can struct {
	Labels  bool         // The store can store labels.
	Aliases bool         // The store can store aliases.
	Kinds   []oxbow.Kind // kinds that the store has (nil means all)
	// precision of the creation time (0 means nanoseconds; a day or more means that it is not stored)
	Created time.Duration
	Reopen  func(t *testing.T) oxbow.Store
}

// checkStore runs the store's own check, if the store has one.
func checkStore(t *testing.T, s oxbow.Store) {
	t.Helper()
	c := oxbow.CapabilitiesOf(s).Checker
	if c == nil {
		return
	}
	rep, err := c.Check(context.WithoutCancel(t.Context()))
	if err != nil && !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Check() = %v", err)
	}
	for _, p := range rep.Problems {
		t.Errorf("Check() found: %s", p.What)
	}
}

// Open opens a memory. At the end of the test, the memory and its index are checked, and the memory is closed.
func Open(t testing.TB, name string, o *oxbow.Options) *oxbow.Memory {
	t.Helper()
	m, err := oxbow.Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(t, m) })
	return m
}

// Close checks a memory and its index, and closes the memory. If a check finds a problem, the test fails.
func Close(t testing.TB, m *oxbow.Memory) {
	t.Helper()
	if r, err := m.Check(context.WithoutCancel(t.Context())); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v, want no problems", r.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

func applyOps(t *testing.T, s oxbow.Store, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("Apply(%v) = %v", ops, err)
	}
}

func checkOpsRefused(t *testing.T, s oxbow.Store, want error, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); !errors.Is(err, want) {
		t.Errorf("Apply(%.200v) = %v, want %v", fmt.Sprint(ops), err, want)
	}
}

func getEntry(t *testing.T, s oxbow.Store, name string) oxbow.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("Get(%q) = %v", name, err)
	}
	return e
}

func checkEntryMissing(t *testing.T, s oxbow.Store, name string) {
	t.Helper()
	if e, err := s.Get(t.Context(), name); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Get(%q) = %+v, %v, want ErrNotFound", name, e, err)
	}
}

func listEntries(t *testing.T, s oxbow.Store, f oxbow.Filter) []oxbow.Entry {
	t.Helper()
	var es []oxbow.Entry
	for e, err := range s.Entries(t.Context(), f) {
		if err != nil {
			t.Fatalf("Entries(%s) = %v", f, err)
		}
		es = append(es, e)
	}
	return es
}

func entryNames(es []oxbow.Entry) []string {
	var ns []string
	for _, e := range es {
		ns = append(ns, e.Name)
	}
	return ns
}
