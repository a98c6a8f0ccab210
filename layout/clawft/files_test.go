// This file tests how the files MEMORY.md and HISTORY.md are read, written and searched as whole files.

package clawft

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestReadTool tests the tool memory_read with cases for which clawft's own tool was examined, and with cases in which
// oxbow does more, such as a search that ignores diacritics.
func TestReadTool(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	ask := func(args m) string {
		t.Helper()
		b, err := json.Marshal(mustCall(t, h, "memory_read", args))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got, want := ask(m{}), `{"content":"","message":"No memory file found"}`; got != want {
		t.Errorf("without a file: %s, want %s", got, want)
	}
	put(
		t,
		fsys,
		clawftMemoryDir+"/MEMORY.md",
		"# User\n\nWohnt in der Straße.\r\n  \nİstanbul, ΟΔΟΣ, café\n\n\n\n  hit one\nand more \n\n"+
			"<!-- oxbow {\"name\":\"style\",\"end\":1} -->\nTabs.\n\nNot hits of spaces.\n<!-- /oxbow 1 -->\n",
	)
	put(t, fsys, clawftMemoryDir+"/HISTORY.md", "hit in the past\n")
	for _, tt := range []struct {
		args m
		want string
	}{
		{m{"query": "HIT"}, `{"query":"HIT","matches":["hit one\nand more","Not hits of spaces."],"count":2}`},
		{m{"query": "hit", "file": "history"}, `{"query":"hit","matches":["hit in the past"],"count":1}`},
		{m{"query": "hit o", "file": "memory"}, `{"query":"hit o","matches":["hit one\nand more"],"count":1}`},
		{m{"query": "PAST", "file": "all"}, `{"query":"PAST","matches":["hit in the past"],"count":1}`},
		{m{"query": "strasse"}, `{"query":"strasse","matches":["Wohnt in der Straße."],"count":1}`},
		{m{"query": "istanbul"}, `{"query":"istanbul","matches":["İstanbul, ΟΔΟΣ, café"],"count":1}`},
		{m{"query": "οδος"}, `{"query":"οδος","matches":["İstanbul, ΟΔΟΣ, café"],"count":1}`},
		{m{"query": "cafe"}, `{"query":"cafe","matches":["İstanbul, ΟΔΟΣ, café"],"count":1}`},
		{m{"query": "style"}, `{"query":"style","matches":["Tabs.","Not hits of spaces."],"count":2}`},
		{m{"query": "oxbow"}, `{"query":"oxbow","matches":[],"count":0}`},
		{m{"query": "", "file": "history"}, `{"content":"hit in the past\n"}`},
	} {
		if got := ask(tt.args); got != tt.want {
			t.Errorf("memory_read(%v) = %s, want %s", tt.args, got, tt.want)
		}
	}
	if all := ask(m{"file": "all"}); !strings.Contains(all, `oxbow 1 --\u003e\n\nhit in the past`) {
		t.Errorf("both files are %s", all)
	}
	for _, tt := range []struct {
		args m
		want string
	}{
		{m{"query": "hit", "file": "all"}, "hit one\nand more\n\nNot hits of spaces.\n\nhit in the past"},
		{m{"query": "aardvark"}, `No paragraph holds "aardvark"`},
		{m{"file": "history"}, "hit in the past\n"},
	} {
		if got := mustCall(t, h, "memory_read", tt.args).Text(); got != tt.want {
			t.Errorf("memory_read(%v) says %q, want %q", tt.args, got, tt.want)
		}
	}
	if _, err := call(t, h, "memory_read", m{"file": "diary"}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("another file = %v", err)
	}
}

func TestWriteTool(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	for _, tt := range []struct {
		args       m
		said, file string
	}{
		{m{"content": "first"}, "Successfully wrote 5 bytes to memory (mode: append)", "first\n\n"},
		{m{"content": "zwölf 🦀"}, "Successfully wrote 11 bytes to memory (mode: append)", "first\n\nzwölf 🦀\n\n"},
		{
			m{"content": "x\x1b[31m\x00y\n", "mode": "overwrite"},
			"Successfully wrote 7 bytes to memory (mode: overwrite)",
			"x[31my\n\n",
		},
		{m{"content": "z"}, "Successfully wrote 1 bytes to memory (mode: append)", "x[31my\n\nz\n\n"},
	} {
		a := mustCall(t, h, "memory_write", tt.args)
		if got := a.Text(); got != tt.said {
			t.Errorf("memory_write(%v) = %q, want %q", tt.args, got, tt.said)
		}
		if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != tt.file {
			t.Errorf("after memory_write(%v): %q, want %q", tt.args, got, tt.file)
		}
	}
	for _, args := range []m{
		{},
		{"content": 5.5, "mode": m{}},
		{"content": ""},
		{"content": strings.Repeat("x", oxbow.MaxContent+1)},
	} {
		if a, err := call(t, h, "memory_write", args); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("memory_write(%.40v) = %v, %v", args, a, err)
		}
	}
	if _, err := h.AppendMemory(t.Context(), "a\xffb"); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("AppendMemory of no text = %v", err)
	}
	for _, content := range []string{"a\xffb", "", " \n"} {
		if err := h.AppendHistory(t.Context(), content); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("AppendHistory(%q) = %v", content, err)
		}
	}
}

// TestOverwriteMerges tests that a model that overwrites a file that it has read does not remove the text that others
// have written to the file since.
func TestOverwriteMerges(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "one\n\ntwo\n\nthree\n")
	h := openHome(t, fsys)
	mustCall(t, h, "memory_read", m{})
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "one\n\ntwo\n\nTHREE by a person\n")
	mustCall(t, h, "memory_write", m{"content": "ONE\n\ntwo\n\nthree\n", "mode": "overwrite"})
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != "ONE\n\ntwo\n\nTHREE by a person\n\n" {
		t.Errorf("merged: %q", got)
	}
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "ONE again\n\ntwo\n\nTHREE by a person\n")
	if a, err := call(
		t,
		h,
		"memory_write",
		m{"content": "uno", "mode": "overwrite"},
	); !errors.Is(err, oxbow.ErrConflict) || !strings.Contains(err.Error(), "ONE again\n\ntwo") {
		t.Errorf("overwriting the same lines = %v, %v", a, err)
	}
	mustCall(t, h, "memory_read", m{})
	mustCall(t, h, "memory_write", m{"content": "uno", "mode": "overwrite"})
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != "uno\n\n" {
		t.Errorf("after reading again: %q", got)
	}
	did, err := h.Revert(t.Context(), 0, false)
	if err != nil || did.What != "overwrite" ||
		read(t, fsys, clawftMemoryDir+"/MEMORY.md") != "ONE again\n\ntwo\n\nTHREE by a person\n" {
		t.Errorf("Revert() = %+v, %v; %q", did, err, read(t, fsys, clawftMemoryDir+"/MEMORY.md"))
	}
}

// TestAppendTogether tests that no text is lost if several goroutines and homes append to the memory at the same time.
// Each text must be in a paragraph of its own.
func TestAppendTogether(t *testing.T) {
	fsys := vfs.NewMem()
	homes := []*Home{openHome(t, fsys), openHome(t, fsys)}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 10 {
				if _, err := homes[i%2].AppendMemory(t.Context(), "fact "+string(rune('a'+i))+
					string(rune('a'+j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	found, err := homes[0].Search(t.Context(), "fact", 0)
	slices.Sort(found)
	if len(slices.Compact(found)) != 40 || err != nil {
		t.Errorf("%d paragraphs, %v", len(found), err)
	}
}

func TestSessionSearch(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "The vet is Dr. Chen.\n")
	put(
		t,
		fsys,
		clawftMemoryDir+"/HISTORY.md",
		"[2026-03-01 09:00] Planned the garden.\n\n[2026-03-02 09:00] Luna saw the vet.\n\nThe vets bill was paid.\n",
	)
	h := openHome(t, fsys)
	b, err := json.Marshal(mustCall(t, h, "session_search", m{"query": "vet", "limit": 2}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"query":"vet","matches":[{"name":"[2026-03-02 09:00] Luna saw the vet.","date":"2026-03-02","text":"[2026-03-02 09:00] Luna saw the vet."},` +
		`{"name":"history: The vets bill was paid.","date":"2026-03-02","text":"The vets bill was paid."}],"count":2}`
	if other := `{"query":"vet","matches":[{"name":"history: The vets bill was paid.","date":"2026-03-02","text":"The vets bill was paid."},` +
		`{"name":"[2026-03-02 09:00] Luna saw the vet.","date":"2026-03-02","text":"[2026-03-02 09:00] Luna saw the vet."}],"count":2}`; string(
		b,
	) != want &&
		string(b) != other {
		t.Errorf("session_search = %s, want %s", b, want)
	}
	if a := mustCall(t, h, "session_search", m{"query": "aardvark"}); !strings.HasPrefix(a.Text(), "No session") {
		t.Errorf("what was never discussed: %q", a.Text())
	}
	if _, err := call(t, h, "session_search", m{"query": "vet", "limit": 0}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("a limit of 0 = %v", err)
	}
}

// TestClawftAppendsAfterOxbow tests that a text is a separate paragraph if clawft appends it after oxbow has written
// the file. Clawft appends directly after the file's last byte, so oxbow must end its text with an empty line.
func TestClawftAppendsAfterOxbow(t *testing.T) {
	for _, args := range []m{
		{"content": "By oxbow."},
		{"content": "By oxbow.", "mode": "overwrite"},
		{"content": "By oxbow.\r\n", "mode": "overwrite"},
	} {
		fsys := vfs.NewMem()
		h := openHome(t, fsys)
		mustCall(t, h, "memory_write", args)
		put(t, fsys, clawftMemoryDir+"/MEMORY.md", read(t, fsys, clawftMemoryDir+"/MEMORY.md")+"By clawft.\n\n")
		var texts []string
		for e, err := range h.Memory().Entries(t.Context(), oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, e.Content)
		}
		slices.Sort(texts)
		if want := []string{"By clawft.", "By oxbow."}; !slices.Equal(texts, want) {
			t.Errorf("memory_write(%v), then clawft: facts %q, want %q", args, texts, want)
		}
		if r, err := h.Memory().Check(t.Context()); err != nil || len(r.Problems) > 0 {
			t.Errorf("Check = %v, %v", r.Problems, err)
		}
	}
}
