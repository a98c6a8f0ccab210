// This file contains helper functions for the tests of this package, such as functions that open a home and call its
// tools.

package clawft

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// clock returns the time at which the recorded test data was made.
func clock() time.Time { return time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC) }

func options(fsys vfs.FS) layout.Options {
	return layout.Options{FS: fsys, Path: "$HOME", Zone: time.UTC, Memory: oxbow.Options{Clock: clock}}
}

func openHome(t *testing.T, fsys vfs.FS) *Home {
	t.Helper()
	o := options(fsys)
	o.Warn = func(message string) { t.Log("told:", message) }
	h, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		rep, err := h.Tree.Check(context.WithoutCancel(t.Context()))
		if err != nil && !errors.Is(err, oxbow.ErrClosed) {
			t.Errorf("Check() = %v", err)
		}
		for _, p := range rep.Problems {
			if !strings.Contains(p.What, "UTF-8") { // one test vector has text that is not UTF-8
				t.Errorf("Check() found: %s", p.What)
			}
		}
		_ = h.Close()
	})
	return h
}

type m = layouttest.Args

var (
	put  = layouttest.WriteFile
	read = layouttest.ReadFile
)

func call(t *testing.T, h *Home, name string, args m) (verb.Answer, error) {
	t.Helper()
	return layouttest.CallTool(t, layouttest.Workspace(h), h.Tools(), name, args)
}

func mustCall(t *testing.T, h *Home, name string, args m) verb.Answer {
	t.Helper()
	a, err := call(t, h, name, args)
	if err != nil {
		t.Fatalf("%s(%v) = %v", name, args, err)
	}
	return a
}
