// This file contains functions for tests that write and read the files of a home and call its tools.

// Package layouttest contains functions for testing dialects, which are the layouts of other programs' homes.
package layouttest

import (
	"context"
	"encoding/json"
	"path"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Args contains the arguments of a tool.
type Args = map[string]any

// WriteFile writes a file, and creates its parent directories.
func WriteFile(t testing.TB, fsys vfs.FS, name, text string) {
	t.Helper()
	if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the text of a file.
func ReadFile(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	data, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Workspace returns a workspace for a home, as an interface such as MCP would create it.
func Workspace(h layout.Home) *verb.Workspace {
	return layout.NewWorkspace(h)
}

// CallTool calls a tool in the same way as an interface such as MCP. The test fails if a tool with this name does not
// exist.
func CallTool(t testing.TB, w *verb.Workspace, tools []verb.Tool, name string, args any) (verb.Answer, error) {
	t.Helper()
	return callToolWithContext(t.Context(), t, w, tools, name, args)
}

// callToolWithContext calls a tool like [CallTool]. ctx is passed to the tool, and may belong to a session.
func callToolWithContext(
	ctx context.Context,
	t testing.TB,
	w *verb.Workspace,
	tools []verb.Tool,
	name string,
	args any,
) (verb.Answer, error) {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range tools {
		if tl.Name == name {
			return tl.CallForModel(ctx, w, data)
		}
	}
	t.Fatalf("there is no tool %q", name)
	return verb.Answer{}, nil
}

// CallHomeTool calls one of the home's tools, and returns the answer's text.
func CallHomeTool(t testing.TB, h layout.Home, name string, args any) (string, error) {
	t.Helper()
	a, err := CallTool(t, Workspace(h), h.Tools(), name, args)
	if err != nil {
		return "", err
	}
	return a.Text(), nil
}

// MustCallHomeTool is like [CallHomeTool], but fails the test if the call returns an error.
func MustCallHomeTool(t testing.TB, h layout.Home, name string, args any) string {
	t.Helper()
	s, err := CallHomeTool(t, h, name, args)
	if err != nil {
		t.Fatalf("%s(%v) = %v", name, args, err)
	}
	return s
}
