// This file tests that a private part of a prompt is not in any event.

package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// TestPrivate marks a part of the prompts in each client's recorded sessions as private. No event may contain that
// part, whether the event is from a hook's report or from a transcript. The rest of the prompt must be kept.
func TestPrivate(t *testing.T) {
	const prompt, secret = "please do the scripted thing", "7f3c9b1d"
	dirs, err := filepath.Glob("testdata/*-work")
	if err != nil || len(dirs) != 6 {
		t.Fatalf("recorded sessions in %v, %v, want those of six clients", dirs, err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			client, _, _ := strings.Cut(filepath.Base(dir), "-")
			marked := t.TempDir()
			files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				b = bytes.ReplaceAll(b, []byte(prompt), []byte("please <private>"+secret+"</private> do"))
				if err := os.WriteFile(filepath.Join(marked, filepath.Base(file)), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			events := append(reported(t, client, marked), kept(t, client, marked)...)
			b, err := json.Marshal(events)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("an event has the private part: %s", b)
			}
			if !bytes.Contains(b, []byte("please "+text.PrivatePartMark+" do")) {
				t.Errorf("no event has the rest of the prompt: %s", b)
			}
		})
	}
}
