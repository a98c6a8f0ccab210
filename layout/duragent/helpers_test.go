// This file contains helper functions for the tests of this package. They create homes in memory and call their tools.

package duragent

import (
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var clock = time.Date(2026, 2, 18, 15, 46, 0, 0, time.UTC)

func options(fsys vfs.FS, agent string) layout.Options {
	return layout.Options{FS: fsys, Path: "home", Agent: agent, Zone: time.UTC,
		Memory: oxbow.Options{Clock: func() time.Time { return clock }}}
}

func put(t *testing.T, fsys *vfs.Mem, name, text string) {
	t.Helper()
	if err := fsys.Put(name, []byte(text), 0o644, clock.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
}

func openHome(t *testing.T, o layout.Options) layout.Home {
	t.Helper()
	h, err := Dialect().Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func want(t *testing.T, h layout.Home, name string, args any, text string) {
	t.Helper()
	if got, err := call(t, h, name, args); err != nil || got != text {
		t.Errorf("%s(%v) = %q, %v, want %q", name, args, got, err, text)
	}
}

// agents creates agents with the given names whose memory has the given backend.
func agents(t *testing.T, fsys *vfs.Mem, backend string, names ...string) {
	t.Helper()
	for _, n := range names {
		put(t, fsys, ".duragent/agents/"+n+"/agent.yaml", "spec:\n  memory:\n    backend: "+backend+"\n")
	}
}

const oxbowAgent = "spec:\n  memory:\n    backend: oxbow\n"

type m = layouttest.Args

var (
	read = layouttest.ReadFile
	call = layouttest.CallHomeTool
)
