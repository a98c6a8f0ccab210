// This file holds what the tests of this package share.

package clawft

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

type m map[string]any

// clock is the time of the vectors.
func clock() time.Time { return time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC) }

func options(fsys vfs.FS) dialect.Options {
	return dialect.Options{FS: fsys, Path: "$HOME", Zone: time.UTC, Memory: oxbow.Options{Clock: clock}}
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
		rep, err := h.tree.Check(context.WithoutCancel(t.Context()))
		if err != nil && !errors.Is(err, oxbow.ErrClosed) {
			t.Errorf("Check() = %v", err)
		}
		for _, p := range rep.Problems {
			if !strings.Contains(p.What, "UTF-8") { // one of the vectors
				t.Errorf("Check() found: %s", p.What)
			}
		}
		_ = h.Close()
	})
	return h
}

func put(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func call(t *testing.T, h *Home, name string, args m) (tool.Answer, error) {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	d := &tool.Workspace{Open: func(context.Context, tool.Access) (*oxbow.Memory, error) { return h.Memory(), nil }}
	for _, tl := range h.Tools() {
		if tl.Name == name {
			return tl.Call(t.Context(), d, b)
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil, nil
}

func mustCall(t *testing.T, h *Home, name string, args m) tool.Answer {
	t.Helper()
	a, err := call(t, h, name, args)
	if err != nil {
		t.Fatalf("%s(%v) = %v", name, args, err)
	}
	return a
}
