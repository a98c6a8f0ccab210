// This file holds what the tests share: homes in memory, and calling tools.

package entryfiles

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 14, 12, 0, 0, 0, time.UTC)

func openHome(t *testing.T, fsys vfs.FS) *home {
	t.Helper()
	h, err := open(t.Context(), dialect.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.(*home)
}

func put(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	for i, c := range name {
		if c == '/' {
			if err := fsys.MkdirAll(name[:i], 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := vfs.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// call calls a tool of the home as a door does, and returns what it says.
func call(t *testing.T, h dialect.Home, name string, args any) (string, error) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range h.Tools() {
		if tl.Name == name {
			desk := &tool.Workspace{Open: func(context.Context, tool.Access) (*oxbow.Memory, error) { return h.Memory(), nil }}
			a, err := tl.Call(t.Context(), desk, data)
			if err != nil {
				return "", err
			}
			return a.Text(), nil
		}
	}
	t.Fatalf("there is no tool %q", name)
	return "", nil
}

type m = map[string]any

func mustCall(t *testing.T, h dialect.Home, name string, args any) string {
	t.Helper()
	s, err := call(t, h, name, args)
	if err != nil {
		t.Fatalf("%s(%v) = %v", name, args, err)
	}
	return s
}
