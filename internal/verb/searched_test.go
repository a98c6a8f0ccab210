// This file tests that each text of a call is searched for secrets only once. To avoid a second search, the call
// remembers the texts that were searched. This must never allow a secret into the memory.

package verb

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

const testKey = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"

// screenedWorkspace returns an agent's workspace whose memory searches all changes for secrets.
func screenedWorkspace(t testing.TB, fsys vfs.FS) *Workspace {
	t.Helper()
	s := SecretPolicy{Cleaner: screen.NewSecretCleaner(t.TempDir())}
	clean := func(ctx context.Context, store oxbow.Store, ops []oxbow.Op) (out []oxbow.Op, err error) {
		for _, op := range ops {
			op, err = s.ScreenOp(ctx, store, op)
			if err != nil {
				return nil, err
			}
			out = append(out, op)
		}
		return out, nil
	}
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: fsys, Screen: clean})
	return &Workspace{
		Open:    func(context.Context, MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Source:  oxbow.Source{Door: "mcp", Actor: oxbow.Agent},
		Secrets: s,
	}
}

// callRemember calls remember in the same way as MCP and HTTP.
func callRemember(ctx context.Context, t testing.TB, w *Workspace, args map[string]any) {
	t.Helper()
	remember, ok := FindTool("remember")
	if !ok {
		t.Fatal("there is no verb remember")
	}
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remember.CallForModel(ctx, w, data); err != nil {
		t.Fatal(err)
	}
}

// TestSearchedOnce checks which arguments of a call are recorded as free of secrets before the memory is opened, so
// that these texts are not searched a second time. All arguments without a secret must be recorded, and an argument
// with a secret must never be.
func TestSearchedOnce(t *testing.T) {
	w := screenedWorkspace(t, vfs.NewMem())
	ctx := withSearchedTexts(t.Context())
	var before map[string]struct{}
	open := w.Open
	w.Open = func(ctx context.Context, how MemoryAccess) (*oxbow.Memory, error) {
		searched := contextTextsWithoutSecrets(ctx)
		before = make(map[string]struct{}, len(searched.texts))
		for text := range searched.texts {
			before[text] = struct{}{}
		}
		return open(ctx, how)
	}
	callRemember(ctx, t, w, map[string]any{
		"name":    "caching",
		"content": "The cache is warm.",
		"aliases": []string{"warm"},
		"tags":    []string{"plain", "the key " + testKey},
	})
	for _, text := range []string{"caching", "The cache is warm.", "warm", "plain"} {
		if _, ok := before[text]; !ok {
			t.Errorf("the text %q would be searched a second time", text)
		}
	}
	for text := range contextTextsWithoutSecrets(ctx).texts {
		if strings.Contains(text, testKey) {
			t.Errorf("a text with a secret counts as clean: %q", text)
		}
	}
}

// TestRedactedOnce checks that a secret in any part of an entry is replaced by one placeholder, and that the memory's
// file does not contain the secret.
func TestRedactedOnce(t *testing.T) {
	for _, part := range []string{"name", "content", "aliases", "tags", "project", "related_files"} {
		t.Run(part, func(t *testing.T) {
			fsys := vfs.NewMem()
			w := screenedWorkspace(t, fsys)
			args := map[string]any{"name": "caching", "content": "The cache is warm."}
			text := "uses " + testKey
			args[part] = text
			if part == "aliases" || part == "tags" || part == "related_files" {
				args[part] = []string{text}
			}
			callRemember(t.Context(), t, w, args)
			m, err := w.Open(t.Context(), Read)
			if err != nil {
				t.Fatal(err)
			}
			marks := 0
			for e, err := range m.Store().Entries(t.Context(), oxbow.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range entryTextsToScreen(&e) {
					marks += strings.Count(*s, "[redacted: github-pat #")
				}
			}
			if marks != 1 {
				t.Errorf("the entry has %d marks, want 1", marks)
			}
			data, err := vfs.ReadFile(fsys, "m.oxbow", 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(testKey)) {
				t.Error("the file contains the secret")
			}
		})
	}
}

// TestSearchedTexts tests which texts RedactText records as free of secrets, so that they are not searched again. A
// text is not recorded if the context has no record, if the text contains a secret, or if the text is larger than
// maxSearchedBytes.
func TestSearchedTexts(t *testing.T) {
	s := SecretPolicy{Cleaner: screen.NewSecretCleaner(t.TempDir())}
	ctx := withSearchedTexts(t.Context())
	if withSearchedTexts(ctx) != ctx {
		t.Error("a second call of withSearched forgets the texts of the first")
	}
	var found []screen.Secret
	large := strings.Repeat("plain words. ", maxSearchedBytes/13+1)
	for _, c := range []struct {
		ctx    context.Context
		text   string
		wanted bool
	}{
		{t.Context(), "plain", false},
		{ctx, "plain", true},
		{ctx, "the key " + testKey, false},
		{ctx, large, false},
	} {
		s.RedactText(c.ctx, c.text, &found)
		if got := contextTextsWithoutSecrets(c.ctx).contains(c.text); got != c.wanted {
			t.Errorf("after the search, contains(%.20q) = %t, want %t", c.text, got, c.wanted)
		}
	}
	if len(found) != 1 {
		t.Errorf("%d secrets were found, want 1", len(found))
	}
}

// BenchmarkRememberCall measures a call of remember by an agent over MCP or HTTP, with a note of about 2 kB.
func BenchmarkRememberCall(b *testing.B) {
	w := screenedWorkspace(b, vfs.NewMem())
	text := strings.Repeat("The service reads its configuration from deploy.yaml and restarts if it changes. ", 24)
	for i := 0; b.Loop(); i++ {
		callRemember(b.Context(), b, w, map[string]any{"name": "note", "content": text + string(rune('a'+i%26)),
			"tags": []string{"deploy", "service"}, "related_files": []string{"deploy.yaml"}})
	}
}
