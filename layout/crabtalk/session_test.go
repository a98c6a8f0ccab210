// This file tests which texts a model gets in its context, and it tests conversations.

package crabtalk

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestContextLayers(t *testing.T) {
	fsys, work := vfs.NewMem(), vfs.NewMem()
	o := options(fsys)
	h := openHome(t, o)
	c, err := h.Context(t.Context(), layout.Request{Message: "deploy"})
	if err != nil || c.Text() != "\n\n"+memoryInstructions {
		t.Errorf("without a Crab.md the context is %q, %v", c.Text(), err)
	}

	if err := work.MkdirAll("src/app", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, fsys, crabFile, "global\n")
	write(t, work, crabFile, "top")
	write(t, work, "src/app/"+crabFile, " near ")
	write(t, work, "src/"+crabFile, "bad \xff")
	var warned []string
	o.Work = work
	o.WorkDir = "src/app"
	o.Warn = func(s string) { warned = append(warned, s) }
	h = openHome(t, o)
	c, err = h.Context(t.Context(), layout.Request{Budget: 1})
	want := "<instructions>\nglobal\n\n\ntop\n\n near \n</instructions>\n\n" + memoryInstructions
	if err != nil || c.RoleText(prompt.RoleSystem) != want {
		t.Errorf("Context() = %q, %v, want %q", c.Text(), err, want)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "../Crab.md") {
		t.Errorf("warned of %q, want ../Crab.md", warned)
	}
}

// TestContextInsideHome tests that the file with instructions in the working directory is ignored if the working
// directory is inside of the home.
func TestContextInsideHome(t *testing.T) {
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, fsys, crabFile, "global")
	write(t, fsys, "sub/"+crabFile, "below")
	o := options(fsys)
	o.Work, o.WorkDir = fsys, "sub"
	c, err := openHome(t, o).Context(t.Context(), layout.Request{})
	if want := "<instructions>\nglobal\n</instructions>\n\n" + memoryInstructions; err != nil || c.Text() != want {
		t.Errorf("Context() = %q, %v, want %q", c.Text(), err, want)
	}
}

func TestSession(t *testing.T) {
	h := openHome(t, options(vfs.NewMem()))
	m := h.Memory()
	for _, e := range []oxbow.Entry{
		{Name: "fix-the-build-02"},
		{Name: "fix-the-build-1", Kind: oxbow.Archive},
		{Name: "fix-the-build-x"},
	} {
		if err := m.Apply(t.Context(), oxbow.Add{Name: e.Name, Kind: e.Kind, Content: "old"}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := h.Session(t.Context(), layout.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := s.BeforeTurn(t.Context(), "Fix the build!"); err != nil || c.Text() != "" {
		t.Errorf("BeforeTurn() = %q, %v, want nothing", c.Text(), err)
	}
	name, c, err := s.Compact(t.Context(), "We fixed lifetimes.")
	if err != nil || name != "fix-the-build-2" || c.RoleText(prompt.RoleUser) != "We fixed lifetimes." {
		t.Fatalf("Compact() = %q, %q, %v", name, c.Text(), err)
	}
	if e, err := m.Get(t.Context(), name); err != nil || e.Kind != oxbow.Archive || e.Content != "We fixed lifetimes." {
		t.Errorf("Get(%s) = %+v, %v, want the archive", name, e, err)
	}
	if got := call(t, h, "recall", `{"query":"lifetimes"}`); got != "## fix-the-build-2\nWe fixed lifetimes." {
		t.Errorf("recall says %q", got)
	}
	for archive, want := range map[string]string{
		name:    "We fixed lifetimes.",
		"ghost": "[archived context unavailable: ghost]",
	} {
		if c, err := s.Resume(t.Context(), archive); err != nil || c.RoleText(prompt.RoleUser) != want {
			t.Errorf("Resume(%s) = %q, %v, want %q", archive, c.Text(), err, want)
		}
	}
	if _, _, err := s.Compact(t.Context(), " "); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("Compact() of nothing = %v, want ErrInvalid", err)
	}
	if err := s.End(t.Context(), ""); err != nil {
		t.Errorf("End() = %v", err)
	}
	if _, err := s.Start(t.Context()); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Start() after the end = %v, want ErrClosed", err)
	}
}

func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"Fix  the BUILD!": "fix-the-build", "日本": "", "": "", "a--b_c.9": "a-b-c-9",
		strings.Repeat("word ", 20): "word-word-word-word-word-word-word-word-word",
		strings.Repeat("x", 90):     strings.Repeat("x", maxSlugBytes),
	} {
		if got := makeSlug(in); got != want {
			t.Errorf("makeSlug(%q) = %q, want %q", in, got, want)
		}
	}
}
