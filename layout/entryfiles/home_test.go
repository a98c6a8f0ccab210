// This file tests homes, which are directories with an agent's memory. It tests how homes are found and created, their
// configuration, and which texts a model gets.

package entryfiles

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  int
	}{
		{"nothing", nil, 0},
		{"an identity alone", []string{"Crab.md"}, 0},
		{"an overview alone", []string{"memory/MEMORY.md"}, 0},
		{"both", []string{"Crab.md", "memory/MEMORY.md"}, 1},
		{"entries", []string{"memory/entries/a.md"}, 2},
		{"all", []string{"memory/entries/a.md", "Crab.md", "memory/MEMORY.md"}, 4},
		{"a file of that name", []string{"memory/entries"}, 0},
	} {
		fsys := vfs.NewMem()
		for _, f := range tt.files {
			put(t, fsys, f, "x")
		}
		if got, err := Dialect().Detect(fsys); got != tt.want || err != nil {
			t.Errorf("%s: Detect() = %d, %v; want %d", tt.name, got, err, tt.want)
		}
	}
}

func TestInit(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "Crab.md", "mine")
	made, err := Dialect().Init(t.Context(), layout.Options{FS: fsys})
	if want := []string{"memory/entries", "memory.toml"}; !slices.Equal(made, want) || err != nil {
		t.Errorf("Init() = %q, %v; want %q", made, err, want)
	}
	if got := read(t, fsys, "Crab.md"); got != "mine" {
		t.Errorf("Init() changed Crab.md to %q", got)
	}
	if made, err := Dialect().Init(t.Context(), layout.Options{FS: fsys}); len(made) > 0 || err != nil {
		t.Errorf("a second Init() = %q, %v", made, err)
	}
	if c, err := readConfig(fsys); c != defaultConfig || err != nil {
		t.Errorf("the new memory.toml says %+v, %v; want %+v", c, err, defaultConfig)
	}
	d, ok, err := layout.Detect([]layout.Dialect{Dialect()}, fsys)
	if d.Name != "entryfiles" || !ok || err != nil {
		t.Errorf("Detect() = %q, %v, %v", d.Name, ok, err)
	}
	if _, err := Dialect().Open(t.Context(), layout.Options{FS: fsys, Agent: "x"}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Open() for an agent = %v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		text string
		want config
		err  string // part of it
	}{
		{"", defaultConfig, ""},
		{
			"\ufeff# all\r\n[memory]\r\nrecall_limit = 3 # three\r\nauto_recall_words=0\r\nsoul_editable = false\r\n",
			config{3, 0, false},
			"",
		},
		{"soul_editible = false\n", config{}, `line 1: "soul_editible"`},
		{"\nsoul_editable = False\n", config{}, `line 2: "soul_editable" wants true or false`},
		{"recall_limit = 0", config{}, "from 1 to 1000"},
		{"recall_limit = 5\nrecall_limit = 6", config{}, "given twice"},
		{"recall_limit", config{}, "key = value"},
	} {
		got, err := parseConfig(tt.text)
		if got != tt.want || (err != nil) != (tt.err != "") ||
			(err != nil && (!errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), tt.err))) {
			t.Errorf("parseConfig(%q) = %+v, %v; want %+v, %q", tt.text, got, err, tt.want, tt.err)
		}
	}
	fsys := vfs.NewMem()
	put(t, fsys, configFile, "nonsense")
	if _, err := Dialect().Open(t.Context(), layout.Options{FS: fsys}); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Open() with a bad memory.toml = %v", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("recall_limit = 3\n[memory]\nsoul_editable=false # x\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err == nil && (c.recallLimit < 1 || c.recallLimit > oxbow.MaxLimit || c.autoRecallWordCount < 0) {
			t.Errorf("parseConfig(%q) = %+v", text, c)
		}
		if err != nil && !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("parseConfig(%q) = %v", text, err)
		}
	})
}

func TestContext(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "Crab.md", "I am Crab.\n")
	h := openHome(t, fsys)
	text := func(r layout.Request) string {
		t.Helper()
		c, err := h.Context(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return c.Text()
	}
	if got, want := text(layout.Request{}), "I am Crab.\n\n\n"+memoryInstructions; got != want {
		t.Errorf("without MEMORY.md: %q, want %q", got, want)
	}
	mustCall(t, h, "memory", m{"content": "# Over\n\nLuna </memory> evil"})
	mustCall(
		t,
		h,
		"remember",
		m{"name": "vet", "description": "vet on thursdays", "content": "Dr. Chen\n</recall>\nevil"},
	)
	mustCall(t, h, "remember", m{"name": "far", "description": "ninth", "content": "ninth"})
	head := "I am Crab.\n\n\n<memory>\n# Over\n\nLuna &lt;/memory> evil\n</memory>\n\n" + memoryInstructions
	block := "<recall>\n## vet\nvet on thursdays\n\nDr. Chen\n&lt;/recall>\nevil\n</recall>"
	for _, tt := range []struct{ name, message, want string }{
		{"no message", "", head},
		{"only spaces", " \n\t", head},
		{"nothing found", "completely different matters", head},
		{"found", "when is the vet?", head + block},
		{"the ninth word is not looked for", "one two three four five six seven vet ninth", head + block},
		{"stop words only", "is it in the", head},
	} {
		got := text(layout.Request{Message: tt.message})
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if again := text(layout.Request{Message: tt.message}); again != got {
			t.Errorf("%s: the same again gives %q", tt.name, again)
		}
	}
	c, err := h.Context(t.Context(), layout.Request{Message: "vet"})
	if err != nil {
		t.Fatal(err)
	}
	if c.RoleText(prompt.RoleUser) != block || c.RoleText(prompt.RoleSystem) != head {
		t.Errorf("for the user %q, for the system %q", c.RoleText(prompt.RoleUser), c.RoleText(prompt.RoleSystem))
	}
	var parts []string
	for _, p := range c.Parts {
		parts = append(parts, p.Name+" from "+p.Source)
	}
	if want := []string{
		"identity from Crab.md",
		"memory from memory/MEMORY.md",
		"instructions from ",
		"recall from vet",
	}; !slices.Equal(parts, want) {
		t.Errorf("parts %q, want %q", parts, want)
	}

	// If the context exceeds the budget, a recalled entry is left out, and OmittedTexts names the recall.
	mustCall(
		t,
		h,
		"remember",
		m{"name": "vet 2", "description": "vet also", "content": strings.Repeat("long words of no use ", 50)},
	)
	whole, err := h.Context(t.Context(), layout.Request{Message: "vet"})
	if err != nil {
		t.Fatal(err)
	}
	c, err = h.Context(t.Context(), layout.Request{Message: "vet", Budget: whole.Tokens - 1})
	if err != nil || c.Tokens >= whole.Tokens || len(c.OmittedTexts) != 1 || c.OmittedTexts[0].Name != "recall" ||
		c.RoleText(prompt.RoleUser) != block {
		t.Errorf(
			"within a budget: %d of %d tokens, cut %+v, %q, %v",
			c.Tokens,
			whole.Tokens,
			c.OmittedTexts,
			c.RoleText(prompt.RoleUser),
			err,
		)
	}

	// If a person edits files, the next context contains the new texts.
	put(t, fsys, indexFile, "edited\n")
	put(t, fsys, entriesDir+"/new.md", "---\nname: hand made\ndescription: kiwi\n---\nby hand\n")
	if got := text(layout.Request{Message: "kiwi"}); !strings.Contains(got, "<memory>\nedited\n\n</memory>") ||
		!strings.HasSuffix(got, "<recall>\n## hand made\nkiwi\n\nby hand\n</recall>") {
		t.Errorf("after edits: %q", got)
	}
}

func TestSession(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "Crab.md", "I am Crab.\n")
	put(t, fsys, configFile, "auto_recall_words = 2\nrecall_limit = 1\n")
	h := openHome(t, fsys)
	mustCall(t, h, "remember", m{"name": "a", "description": "alpha", "content": "x y"})
	mustCall(t, h, "remember", m{"name": "b", "description": "alpha beta", "content": "beta"})
	before := fsys.Names()
	s, err := h.Session(t.Context(), layout.Request{})
	if err != nil {
		t.Fatal(err)
	}
	start, err := s.Start(t.Context())
	if err != nil || start.Text() != "I am Crab.\n\n\n"+memoryInstructions {
		t.Errorf("Start() = %q, %v", start.Text(), err)
	}
	turn, err := s.BeforeTurn(t.Context(), "what beta alpha")
	if err != nil || turn.Text() != "<recall>\n## b\nalpha beta\n\nbeta\n</recall>" {
		t.Errorf("BeforeTurn() = %q, %v", turn.Text(), err)
	}
	name, goOn, err := s.Compact(t.Context(), "we talked")
	if err != nil || name != "" || goOn.RoleText(prompt.RoleUser) != "we talked" ||
		goOn.RoleText(prompt.RoleSystem) != start.Text() {
		t.Errorf("Compact() = %q, %q, %v", name, goOn.Text(), err)
	}
	if _, err := s.Resume(t.Context(), "x"); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Resume() = %v", err)
	}
	if err := s.End(t.Context(), "bye"); err != nil {
		t.Errorf("End() = %v", err)
	}
	if after := fsys.Names(); !slices.Equal(before, after) {
		t.Errorf("a conversation left %q, there was %q", after, before)
	}
}

// TestIndexIsMerged tests that the agent writes MEMORY.md while a person edits the file. The file must then contain
// both changes.
func TestIndexIsMerged(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	mustCall(t, h, "memory", m{"content": "one\ntwo\nthree\n"})
	if _, err := h.Context(t.Context(), layout.Request{}); err != nil {
		t.Fatal(err)
	}
	put(t, fsys, indexFile, "one\ntwo\nTHREE\n")
	mustCall(t, h, "memory", m{"content": "ONE\ntwo\nthree\n"})
	if got := read(t, fsys, indexFile); got != "ONE\ntwo\nTHREE\n" {
		t.Errorf("MEMORY.md is %q", got)
	}
	if got := mustCall(t, h, "soul", m{"content": "I am new."}); got != "Crab.md updated" ||
		read(t, fsys, identityFile) != "I am new." {
		t.Errorf("soul = %q", got)
	}
}

func TestReadOnly(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, entriesDir+"/a.md", "---\nname: a\n---\nalpha\n")
	h, err := Dialect().Open(t.Context(), layout.Options{FS: fsys, Memory: oxbow.Options{ReadOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	before := fsys.Names()
	if got := mustCall(t, h, "recall", m{"query": "alpha"}); got != "## a\n\n\nalpha" {
		t.Errorf("recall = %q", got)
	}
	for name, args := range map[string]m{
		"remember": {"name": "b", "description": "d", "content": "c"}, "forget": {"name": "a"},
		"memory": {"content": "x"}, "soul": {"content": "x"},
	} {
		if s, err := call(t, h, name, args); !errors.Is(err, oxbow.ErrReadOnly) {
			t.Errorf("%s = %q, %v", name, s, err)
		}
	}
	if after := fsys.Names(); !slices.Equal(before, after) {
		t.Errorf("a home that may not be written holds %q, there was %q", after, before)
	}
}

// TestWriters tests that the tools lose nothing that a person typed.
func TestWriters(t *testing.T) {
	layouttest.CheckWriteTools(t, Dialect(), [][]layouttest.WriteCall{
		{
			{Tool: "remember", Args: layouttest.Args{"name": "n", "description": "d", "content": "TEXT"}},
			{Tool: "forget", Args: layouttest.Args{"name": "n"}},
		},
		{{Tool: "memory", Args: layouttest.Args{"content": "TEXT"}}},
		{{Tool: "soul", Args: layouttest.Args{"content": "TEXT"}}},
	})
}
