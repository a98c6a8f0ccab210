// This file tests homes, which are directories with a memory. It tests where the memory is found, which texts a model
// gets, and conversations.

package clawft

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, shown string
		files       []string // directories end in /
		dir         string
		markers     int
	}{
		{"neither", "/home/a", nil, clawftMemoryDir, 0},
		{"the first", "/home/a", []string{".clawft/workspace/memory/"}, clawftMemoryDir, 2},
		{"the legacy one", "/home/a", []string{".nanobot/workspace/memory/MEMORY.md"}, nanobotMemoryDir, 3},
		{"both", "/home/a",
			[]string{
				".nanobot/workspace/memory/MEMORY.md",
				".clawft/workspace/memory/MEMORY.md",
				".clawft/workspace/memory/HISTORY.md",
			},
			clawftMemoryDir, 4},
		{"the directory decides, not the file", "/home/a",
			[]string{".clawft/workspace/memory/", ".nanobot/workspace/memory/MEMORY.md"}, clawftMemoryDir, 2},
		{"a workspace without memory", "/home/a", []string{".clawft/workspace/", ".nanobot/workspace/memory/"},
			nanobotMemoryDir, 2},
		{"a file of that name", "/home/a", []string{".clawft/workspace/memory"}, clawftMemoryDir, 0},
		{"clawft's own directory", "/home/a/.clawft", []string{"workspace/memory/MEMORY.md"}, "workspace/memory", 2},
		{"nothing in it", "/home/a/.clawft/", nil, "workspace/memory", 0},
		{"nothing in nanobot's", "/home/a/.nanobot", nil, "workspace/memory", 0},
		{"a workspace", "/home/a/.clawft/workspace", []string{"memory/HISTORY.md", "memory/MEMORY.md"}, "memory", 3},
		{"an empty workspace", "/home/a/.clawft/workspace", nil, "memory", 0},
		{"the memory", "/tmp/x", []string{"HISTORY.md", "MEMORY.md"}, ".", 2},
		{"an empty one", "/home/a/.clawft/workspace/memory", nil, ".", 0},
		{"half of it could be anybody's", "/tmp/x", []string{"MEMORY.md"}, ".", 0},
		{"another layout's overview", "/tmp/x", []string{"memory/MEMORY.md"}, "memory", 0},
	} {
		fsys := vfs.NewMem()
		for _, f := range tt.files {
			if dir, ok := strings.CutSuffix(f, "/"); ok {
				if err := fsys.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				continue
			}
			put(t, fsys, f, "x")
		}
		p, err := findMemoryDir(fsys, tt.shown)
		if p.memoryDir != tt.dir || p.layoutMarkerCount != tt.markers || err != nil {
			t.Errorf("%s: find() = %+v, %v; want %s with %d markers", tt.name, p, err, tt.dir, tt.markers)
		}
	}
}

// TestFindBesideFiles tests that files with the names of directories are not an error. A program examines any directory
// in order to detect its layout, so such files can exist. The test uses a directory on a disk.
func TestFindBesideFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"memory", "workspace", ".clawft", ".nanobot"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if p, err := findMemoryDir(fsys, dir); err != nil || p.layoutMarkerCount != 0 {
		t.Errorf("find() = %+v, %v", p, err)
	}
	if markers, err := Dialect().Detect(fsys); markers != 0 || err != nil {
		t.Errorf("Detect() = %d, %v", markers, err)
	}
}

// TestDecidedOnce tests that a home uses the same memory directory from its opening to its end. The home opens the
// directory of nanobot, because only this directory exists. The home must not change to the directory of clawft when
// the latter is created.
func TestDecidedOnce(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, nanobotMemoryDir+"/HISTORY.md", "old\n")
	h := openHome(t, fsys)
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "other\n")
	if err := h.Memory().Apply(t.Context(), oxbow.Add{Name: "n", Content: "n"}); err != nil {
		t.Fatal(err)
	}
	mustCall(t, h, "memory_write", m{"content": "w"})
	c, err := h.Context(t.Context(), layout.Request{})
	if err != nil || c.Text() != "\n\n## Memory\n\nn\n\nw\n\n" {
		t.Errorf("Context() = %q, %v", c.Text(), err)
	}
	if got := read(t, fsys, nanobotMemoryDir+"/MEMORY.md"); got != "n\n\nw\n\n" {
		t.Errorf("the legacy MEMORY.md is %q", got)
	}
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != "other\n" {
		t.Errorf("the other MEMORY.md is %q", got)
	}
}

// TestOpen tests that Open and Context create no file, and that the first write creates the memory file. If a directory
// of nanobot, whose memory is not used, exists as well, Open must report it with Warn. Open for a certain agent must
// fail with ErrInvalid.
func TestOpen(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	if c, err := h.Context(t.Context(), layout.Request{}); err != nil || c.Text() != "" {
		t.Errorf("Context() = %q, %v", c.Text(), err)
	}
	if got := fsys.Names(); len(got) > 0 {
		t.Errorf("opening and reading made %q", got)
	}
	mustCall(t, h, "memory_write", m{"content": "x"})
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != "x\n\n" {
		t.Errorf("MEMORY.md is %q", got)
	}

	fsys = vfs.NewMem()
	put(t, fsys, nanobotMemoryDir+"/MEMORY.md", "old\n")
	if err := fsys.MkdirAll(clawftMemoryDir, 0o755); err != nil {
		t.Fatal(err)
	}
	var warned []string
	o := options(fsys)
	o.Warn = func(s string) { warned = append(warned, s) }
	h, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if len(warned) != 1 || !strings.Contains(warned[0], ".nanobot") {
		t.Errorf("warned %q", warned)
	}
	o.Agent = "a"
	if _, err := Open(t.Context(), o); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Open() for an agent = %v", err)
	}
}

func TestInit(t *testing.T) {
	fsys := vfs.NewMem()
	d := Dialect()
	for i, want := range [][]string{{clawftMemoryDir}, nil} {
		made, err := d.Init(t.Context(), options(fsys))
		if !slices.Equal(made, want) || err != nil {
			t.Errorf("Init() number %d = %q, %v; want %q", i+1, made, err, want)
		}
	}
	got, ok, err := layout.Detect([]layout.Dialect{d}, fsys)
	if got.Name != "clawft" || !ok || err != nil {
		t.Errorf("Detect() = %q, %v, %v", got.Name, ok, err)
	}
	h, err := d.Open(t.Context(), options(fsys))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := h.(layout.Tidier); !ok {
		t.Error("the home is no Tidier")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestEditsShow tests that an edit of MEMORY.md shows in the next turn, and once only. Recall must find the edited
// text.
func TestEditsShow(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "likes tea\n")
	h := openHome(t, fsys)
	s, err := h.Session(t.Context(), layout.Request{})
	if err != nil {
		t.Fatal(err)
	}
	start, err := s.Start(t.Context())
	if err != nil || start.RoleText(prompt.RoleSystem) != "\n\n## Memory\n\nlikes tea\n" {
		t.Fatalf("Start() = %q, %v", start.Text(), err)
	}
	if turn, err := s.BeforeTurn(t.Context(), "hi"); err != nil || len(turn.Parts) != 0 {
		t.Errorf("BeforeTurn() of an unchanged memory = %q, %v", turn.Text(), err)
	}
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "likes coffee\n")
	if turn, err := s.BeforeTurn(t.Context(), "hi"); err != nil ||
		turn.RoleText(prompt.RoleSystem) != "\n\n## Memory\n\nlikes coffee\n" {
		t.Errorf("BeforeTurn() after an edit = %q, %v", turn.Text(), err)
	}
	if turn, err := s.BeforeTurn(t.Context(), "hi"); err != nil || len(turn.Parts) != 0 {
		t.Errorf("the next BeforeTurn() = %q, %v", turn.Text(), err)
	}
	hits, err := h.Memory().Recall(t.Context(), oxbow.Query{Text: "coffee"})
	if err != nil || len(hits) != 1 || hits[0].Entry.Name != "likes coffee" {
		t.Errorf("Recall() = %+v, %v", hits, err)
	}
}

func TestContext(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"none", "", ""},
		{"blank", " \n\t\n", ""},
		{"as it is", "a\n\n\n<b> \n</memory>", "\n\n## Memory\n\na\n\n\n<b> \n</memory>"},
		{"without its byte order mark", "\ufeffa", "\n\n## Memory\n\na"},
	} {
		fsys := vfs.NewMem()
		put(t, fsys, clawftMemoryDir+"/HISTORY.md", "[2026-01-01] not for the model\n")
		if tt.file != "" {
			put(t, fsys, clawftMemoryDir+"/MEMORY.md", tt.file)
		}
		c, err := openHome(t, fsys).Context(t.Context(), layout.Request{Message: "not"})
		if err != nil || c.Text() != tt.want {
			t.Errorf("%s: Context() = %q, %v; want %q", tt.name, c.Text(), err, tt.want)
		}
	}
}

// TestContextBudget tests that Context shortens the text to the budget, which is in tokens. The file MEMORY.md must not
// change.
func TestContextBudget(t *testing.T) {
	fsys := vfs.NewMem()
	old := strings.Repeat("The first thing that was noted here is long. ", 8)
	text := old + "\n\n<!-- oxbow {\"name\":\"n\",\"labels\":[\"tag:keep\"]} -->\nAlways call me Anna.\n"
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
	h := openHome(t, fsys)
	c, err := h.Context(t.Context(), layout.Request{Budget: 60})
	if err != nil || c.Tokens > 60 || !strings.Contains(c.Text(), "Anna") ||
		!strings.Contains(c.Text(), shortenedTextMark) ||
		len(c.OmittedTexts) != 1 {
		t.Errorf("Context() = %q of %d tokens, cut %v, %v", c.Text(), c.Tokens, c.OmittedTexts, err)
	}
	if c, err := h.Context(t.Context(), layout.Request{Budget: 5}); err != nil || c.Text() != "" ||
		len(c.OmittedTexts) != 1 {
		t.Errorf("Context() within 5 tokens = %q, cut %v, %v", c.Text(), c.OmittedTexts, err)
	}
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != text {
		t.Errorf("MEMORY.md is %q", got)
	}
}

func TestSession(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "facts\n")
	h := openHome(t, fsys)
	begin := func() layout.Session {
		s, err := h.Session(t.Context(), layout.Request{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := begin()
	name, goOn, err := s.Compact(t.Context(), "We talked of Luna.\n")
	if err != nil || name != "[2026-04-14 10:23] We talked of Luna." ||
		goOn.RoleText(prompt.RoleUser) != "We talked of Luna." ||
		goOn.RoleText(prompt.RoleSystem) != "\n\n## Memory\n\nfacts\n" {
		t.Errorf("Compact() = %q, %q, %v", name, goOn.Text(), err)
	}
	if again, _, err := s.Compact(t.Context(), "We talked of Luna."); err != nil || again != name+" (2)" {
		t.Errorf("a second Compact() of the same = %q, %v", again, err)
	}
	if err := s.End(t.Context(), "First.\n\nSecond."); err != nil {
		t.Error(err)
	}
	if _, err := s.BeforeTurn(t.Context(), "x"); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("a turn after the end = %v", err)
	}
	want := "[2026-04-14 10:23] We talked of Luna.\n\n[2026-04-14 10:23] We talked of Luna.\n\n" +
		"<!-- oxbow {\"name\":\"[2026-04-14 10:23] First.\",\"created\":\"2026-04-14T10:23:45Z\",\"end\":1} " +
		"-->\n[2026-04-14 10:23] First.\n\nSecond.\n<!-- /oxbow 1 -->\n\n"
	if got := read(t, fsys, clawftMemoryDir+"/HISTORY.md"); got != want {
		t.Errorf("HISTORY.md is %q, want %q", got, want)
	}
	h = openHome(t, fsys)
	s = begin()
	if c, err := s.Resume(t.Context(), name); err != nil || c.RoleText(prompt.RoleUser) != name {
		t.Errorf("Resume() = %q, %v", c.Text(), err)
	}
	for _, name := range []string{"ghost", "facts"} {
		if _, err := s.Resume(t.Context(), name); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Resume(%q) = %v", name, err)
		}
	}
	if _, _, err := s.Compact(t.Context(), " "); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Compact() of nothing = %v", err)
	}
	before := read(t, fsys, clawftMemoryDir+"/HISTORY.md")
	if err := s.End(t.Context(), ""); err != nil || read(t, fsys, clawftMemoryDir+"/HISTORY.md") != before {
		t.Errorf("an end without a summary = %v", err)
	}
	e, err := h.Memory().Get(t.Context(), name)
	if err != nil || e.Kind != oxbow.History || !e.Created.Equal(time.Date(2026, 4, 14, 10, 23, 0, 0, time.UTC)) {
		t.Errorf("Get(%q) = %+v, %v", name, e, err)
	}
}

func TestReadOnly(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "a fact of four words\n\na fact of four words\n")
	before := fsys.Names()
	o := options(fsys)
	o.Memory.ReadOnly = true
	h, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := call(t, h, "memory_write", m{"content": "x"}); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("memory_write = %v", err)
	}
	if _, err := h.Consolidate(t.Context(), false); !errors.Is(err, oxbow.ErrReadOnly) {
		t.Errorf("Consolidate() = %v", err)
	}
	if did, err := h.Consolidate(t.Context(), true); err != nil || len(did.Steps) != 1 {
		t.Errorf("a preview = %+v, %v", did, err)
	}
	if after := fsys.Names(); !slices.Equal(before, after) {
		t.Errorf("files %q, there were %q", after, before)
	}
}

// TestBelow tests that a subdirectory rejects names that refer to files outside of the subdirectory.
func TestBelow(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "secret", "x")
	put(t, fsys, "a/b/c", "y")
	b := &subdirectory{fsys, "a/b"}
	if got := read(t, b, "c"); got != "y" {
		t.Errorf("c is %q", got)
	}
	for _, name := range []string{"../../secret", "/secret", path.Join("..", "..", "secret")} {
		if _, err := b.Stat(name); err == nil {
			t.Errorf("Stat(%q) leaves the directory", name)
		}
	}
}

// TestWriters tests that the tools lose nothing that a person typed.
func TestWriters(t *testing.T) {
	write := func(args layouttest.Args) layouttest.WriteCall {
		return layouttest.WriteCall{Tool: "memory_write", Args: args}
	}
	overwrite := write(layouttest.Args{"content": "TEXT", "mode": "overwrite"})
	appending := write(layouttest.Args{"content": "TEXT"})
	layouttest.CheckWriteTools(t, Dialect(), [][]layouttest.WriteCall{{overwrite}, {appending, overwrite}, {appending}})
}
