// This file tests that a secret in a client's text is never written to a file, whichever tool receives it.

package mcpserver

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow/internal/layouts"
)

// planted is a text with the form of a secret key. No service has issued it.
const planted = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"

func TestSecrets(t *testing.T) {
	for _, d := range layouts.All() {
		t.Run(d.Name, func(t *testing.T) {
			dir := t.TempDir()
			cs := overMemory(t, treeServer(t, d, dir), versions[0])
			replaced := 0
			for tl, err := range cs.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				args := obj{}
				schema := tl.InputSchema.(map[string]any)["properties"].(map[string]any)
				for name, of := range schema {
					switch p := of.(map[string]any); {
					case p["enum"] != nil:
						args[name] = p["enum"].([]any)[0]
					case p["type"] == "string":
						args[name] = "It says " + planted + " here, for " + tl.Name + "."
					case p["type"] == "array":
						args[name] = []string{planted}
					}
				}
				res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tl.Name, Arguments: args})
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(textOf(res), "what looked like a secret was replaced") {
					replaced++
				}
			}
			res, err := cs.CallTool(
				t.Context(),
				&mcp.CallToolParams{Name: "remember", Arguments: obj{"name": "plain", "content": "It says " + planted}},
			)
			if err == nil && !res.IsError {
				replaced++
			}
			if replaced == 0 {
				t.Error("no tool replaced anything")
			}
			noBytes(t, dir, planted)
		})
	}
}

// noBytes fails the test if a file below the directory dir contains the string text, or has a path that contains it.
func noBytes(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if bytes.Contains(b, []byte(text)) || strings.Contains(p, text) {
			t.Errorf("%s holds %q", p, text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
