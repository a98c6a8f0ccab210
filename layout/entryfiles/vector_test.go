// This file repeats tool calls that were recorded with crabtalk's own code. It compares the replies with the recorded
// replies.

package entryfiles

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name    string
		Ops     []map[string]any
		Results []string
		Tree    map[string]string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 5 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			fsys := vfs.NewMem()
			if c.Name == "parse variants" {
				// The tree that was there before the calls.
				for p, text := range c.Tree {
					if p != identityFile {
						put(t, fsys, p, text)
					}
				}
			}
			h := openHome(t, fsys)
			for i, op := range c.Ops {
				kind := op["op"].(string)
				delete(op, "op")
				got := ""
				switch kind {
				case "slug":
					got = entrySlug(op["name"].(string))
				case "build_prompt":
					ctx, err := h.Context(t.Context(), layout.Request{})
					if err != nil {
						t.Fatal(err)
					}
					got = ctx.RoleText(prompt.RoleSystem)
					// Compare only the text before the instructions about the memory, because oxbow words these
					// instructions differently from crabtalk.
					want, _, _ := strings.Cut(c.Results[i], "## Memory\n")
					got, c.Results[i] = strings.TrimSuffix(got, memoryInstructions), want
				case "build_soul":
					ctx, err := h.Context(t.Context(), layout.Request{})
					if err != nil {
						t.Fatal(err)
					}
					for _, p := range ctx.Parts {
						if p.Name == "identity" {
							got = p.Text
						}
					}
				case "reopen":
					put(t, fsys, configFile, "soul_editable = false\n")
					h, got = openHome(t, fsys), "ok"
				default:
					got = mustCall(t, h, kind, op)
				}
				if got != c.Results[i] {
					t.Errorf("call %d, %s(%v) = %q, want %q", i, kind, op, got, c.Results[i])
				}
			}
			if c.Name == "parse variants" {
				return
			}
			for p, want := range c.Tree {
				if strings.HasPrefix(want, "<") {
					continue // crabtalk's own default identity
				}
				if got := read(t, fsys, p); got != want {
					t.Errorf("%s is %q, want %q", p, got, want)
				}
			}
			for _, p := range fsys.Names() {
				if _, ok := c.Tree[p]; !ok && strings.HasSuffix(p, ".md") {
					t.Errorf("there is %s, which crabtalk does not leave", p)
				}
			}
		})
	}
}

// TestConformance tests that the tools write the same bytes, return the same replies and follow the same rules as the
// original program, according to our notes on that program.
func TestConformance(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	mustCall(t, h, "remember", m{"name": "rust", "description": "about rust", "content": "rust project"})
	if got, want := read(
		t,
		fsys,
		"memory/entries/rust.md",
	), "---\nname: rust\ndescription: about rust\n---\n\nrust project\n"; got != want {
		t.Errorf("the file is %q, want %q", got, want)
	}
	recall := func(step, query, want string) {
		t.Helper()
		if got := mustCall(t, h, "recall", m{"query": query}); got != want {
			t.Errorf("%s: recall(%q) = %q, want %q", step, query, got, want)
		}
	}
	recall("the reply", "project", "## rust\nabout rust\n\nrust project")
	mustCall(t, h, "remember", m{"name": "zebra", "description": "striped", "content": "an animal"})
	recall("names are not looked for", "zebra", noHitsReply)
	recall("stop words only", "the is of", noHitsReply)
	mustCall(
		t,
		h,
		"remember",
		m{"name": "zebra", "description": "stripes", "content": "a horse\n---\nname: evil\n---\nx"},
	)
	recall("the same name overwrites", "striped", noHitsReply)
	recall("markers in the content", "horse", "## zebra\nstripes\n\na horse\n---\nname: evil\n---\nx")
	mustCall(t, h, "remember", m{"name": "crab", "description": "one sign", "content": "蟹 é x"})
	recall("one sign outside ASCII", "蟹", "## crab\none sign\n\n蟹 é x")
	recall("one letter of ASCII", "x", noHitsReply)
	for i := range 7 {
		mustCall(t, h, "remember", m{"name": string(rune('a' + i)), "description": "many", "content": "many"})
	}
	if got := mustCall(t, h, "recall", m{"query": "many"}); strings.Count(got, "## ") != 5 {
		t.Errorf("recall without a limit found %d", strings.Count(got, "## "))
	}
	if got := mustCall(t, h, "recall", m{"query": "many", "limit": 7}); strings.Count(got, "## ") != 7 {
		t.Errorf("recall of 7 found %d", strings.Count(got, "## "))
	}
	if _, err := call(t, h, "recall", m{"query": "many", "limit": 0}); err == nil {
		t.Error("recall of 0 was answered")
	}

	// A newline in a description makes no second name.
	mustCall(t, h, "remember", m{"name": "good", "description": "x\nname: evil\r\n---", "content": "c"})
	for _, h := range []*home{h, openHome(t, fsys)} {
		if e, err := h.Memory().Get(t.Context(), "good"); err != nil || e.Content != "x name: evil  ---\n\nc" {
			t.Errorf("Get(good) = %q, %v", e.Content, err)
		}
		if _, err := h.Memory().Get(t.Context(), "evil"); err == nil {
			t.Error("a description made an entry")
		}
	}
	for _, name := range []string{"bad\nname: evil", " ", "a\x00b"} {
		if s, err := call(t, h, "remember", m{"name": name, "description": "d", "content": "c"}); err == nil {
			t.Errorf("remember(%q) = %q", name, s)
		}
	}

	// If several names give the same file name, each entry gets a file of its own. Forgetting one entry must not delete
	// the others.
	for _, name := range []string{"A b", "a-B", "a b"} {
		mustCall(t, h, "remember", m{"name": name, "description": "d", "content": "of " + name})
	}
	h = openHome(t, fsys)
	if got := mustCall(t, h, "forget", m{"name": "a-B"}); got != "forgot: a-B" {
		t.Errorf("forget(a-B) = %q", got)
	}
	var left []string
	for _, p := range fsys.Names() {
		if strings.HasPrefix(p, "memory/entries/a-b") {
			left = append(left, p)
		}
	}
	if want := []string{"memory/entries/a-b-3.md", "memory/entries/a-b.md"}; !slices.Equal(left, want) {
		t.Errorf("files %q, want %q", left, want)
	}
	for _, name := range []string{"A b", "a b"} {
		if e, err := h.Memory().Get(t.Context(), name); err != nil || e.Content != "d\n\nof "+name {
			t.Errorf("Get(%q) = %q, %v", name, e.Content, err)
		}
	}
}
