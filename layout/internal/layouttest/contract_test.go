// The contract of every tool that writes: nothing that a person typed is lost.

package layouttest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/clawft"
	"github.com/oxbow-memory/oxbow/layout/coderhapsody"
	"github.com/oxbow-memory/oxbow/layout/crabtalk"
	"github.com/oxbow-memory/oxbow/layout/duragent"
	"github.com/oxbow-memory/oxbow/layout/entryfiles"
	"github.com/oxbow-memory/oxbow/vfs"
)

// call is one call of a tool. TEXT in its arguments is the text to write.
type call struct {
	tool string
	args Args
}

// writers are the calls that write, by dialect: each is made on what the first of
// its row wrote, and alone if it writes itself. A tool of a home that may write
// and stands in no row fails the test.
var writers = map[string][][]call{
	"crabtalk": {
		{{"remember", Args{"name": "n", "content": "TEXT"}}, {"forget", Args{"name": "n"}}},
	},
	"entryfiles": {
		{{"remember", Args{"name": "n", "description": "d", "content": "TEXT"}}, {"forget", Args{"name": "n"}}},
		{{"memory", Args{"content": "TEXT"}}},
		{{"soul", Args{"content": "TEXT"}}},
	},
	"duragent": {
		{{"remember", Args{"content": "TEXT"}}},
		{{"reflect", Args{"content": "TEXT"}}},
		{{"update_world", Args{"topic": "n", "content": "TEXT"}}},
	},
	"clawft": {
		{{"memory_write", Args{"content": "TEXT", "mode": "overwrite"}}},
		{{"memory_write", Args{"content": "TEXT"}}, {"memory_write", Args{"content": "TEXT", "mode": "overwrite"}}},
		{{"memory_write", Args{"content": "TEXT"}}},
	},
	"coderhapsody": {
		{{"save_memory", Args{"content": "TEXT"}}},
	},
}

// own are the calls of oxbow's own tools, which all homes can have.
var own = [][]call{
	{
		{"remember", Args{"name": "n", "content": "TEXT"}},
		{"forget", Args{"name": "n"}},
		{"save_memory", Args{"content": "TEXT"}},
		{"handoff_task", Args{"summary": "TEXT"}}, {"undo", Args{}}, {"restore", Args{"name": "n", "seq": 1}},
	},
}

var dialects = []layout.Dialect{crabtalk.Dialect(), entryfiles.Dialect(), duragent.Dialect(), clawft.Dialect(),
	coderhapsody.Dialect()}

const (
	first = "Line one.\nLine two.\nLine three."
	later = "Line one, changed.\nLine two.\nLine three.\nLine four."
	typed = "A PERSON TYPED THIS"
)

// edits are what a person makes of the first text.
var edits = map[string]func(text string) string{
	"append":        func(s string) string { return strings.Replace(s, "Line three.", "Line three.\n"+typed, 1) },
	"change a line": func(s string) string { return strings.Replace(s, "Line two.", "Line two. "+typed, 1) },
	"the same line": func(s string) string { return strings.Replace(s, "Line one.", typed, 1) },
	"replace all":   func(s string) string { return strings.Replace(s, first, typed, 1) },
}

// home is a home that a person and agents share.
type home struct {
	fsys vfs.FS
	d    layout.Dialect
}

func (h home) options() layout.Options {
	now := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	return layout.Options{FS: h.fsys, Path: "/home", Zone: time.UTC, Memory: oxbow.Options{Clock: func() time.Time {
		return now
	}}}
}

// server opens the home as a server does, with a session of its own.
func (h home) server(t *testing.T) (layout.Home, context.Context) {
	t.Helper()
	s, err := h.d.Open(t.Context(), h.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, verb.WithSeenEntries(t.Context(), verb.NewSeenEntries(s.Written()))
}

// make makes a call, with the text in the place of TEXT.
func (c call) make(t *testing.T, ctx context.Context, s layout.Home, tools []verb.Tool, text string) error {
	t.Helper()
	in := Args{}
	for k, v := range c.args {
		in[k] = v
		if v == "TEXT" {
			in[k] = text
		}
	}
	_, err := callToolIn(ctx, t, Workspace(s), tools, c.tool, in)
	return err
}

// edit lets a person change what holds the first text: in the file or, where the
// file is no text, by another process.
func (h home) edit(t *testing.T, change func(string) string) {
	t.Helper()
	for _, name := range files(t, h.fsys, ".") {
		if text := ReadFile(t, h.fsys, name); strings.Contains(text, first) && name != "memory.db" {
			WriteFile(t, h.fsys, name, change(text))
			return
		}
	}
	p, ctx := h.server(t)
	e, err := p.Memory().Store().Get(ctx, "n")
	if err == nil {
		err = p.Memory().Apply(
			ctx,
			oxbow.Update{Name: "n", Content: change(e.Content), Aliases: e.Aliases, Labels: e.Labels},
		)
	}
	if err != nil {
		t.Fatalf("no file holds the text, and no entry: %v", err)
	}
	p.Close()
}

// files returns the names of all files, but for what a person does not look into.
func files(t *testing.T, fsys vfs.FS, dir string) (names []string) {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		switch {
		case e.Name() == "undo" || strings.HasPrefix(e.Name(), ".oxbow"):
		case e.IsDir():
			names = append(names, files(t, fsys, name)...)
		default:
			names = append(names, name)
		}
	}
	return names
}

// stands reports whether any file still has what the person typed.
func (h home) stands(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(files(t, h.fsys, "."), func(name string) bool {
		return strings.Contains(ReadFile(t, h.fsys, name), typed)
	})
}

func TestNothingTypedIsLost(t *testing.T) {
	for _, d := range dialects {
		for _, set := range []struct {
			name  string
			rows  [][]call
			tools func(layout.Home) []verb.Tool
		}{
			{"own", own, func(layout.Home) []verb.Tool { return verb.Tools() }},
			{d.Name, writers[d.Name], layout.Home.Tools},
		} {
			checkTable(t, d, set.name, set.rows, set.tools)
			for _, row := range set.rows {
				for _, c := range row {
					for name, change := range edits {
						t.Run(
							strings.Join([]string{d.Name, set.name, row[0].tool, c.tool, name}, "/"),
							func(t *testing.T) {
								lostNothing(t, d, set.tools, row[0], c, change)
							},
						)
					}
				}
			}
		}
	}
}

// A change of labels alone says nothing of a content that the session knows.
func TestLabelsAloneKeepWhatIsKnown(t *testing.T) {
	h := home{vfs.NewMem(), entryfiles.Dialect()}
	s, ctx := h.server(t)
	for _, c := range []call{
		{"remember", Args{"name": "n", "content": "TEXT"}},
		{"remember", Args{"name": "n", "tags": []string{"x"}}},
		{"remember", Args{"name": "n", "content": "Line one.\nLine three."}},
	} {
		if err := c.make(t, ctx, s, verb.Tools(), first); err != nil {
			t.Fatalf("%v: %v", c.args, err)
		}
	}
}

// checkTable reports tools that may write and stand in no row.
func checkTable(t *testing.T, d layout.Dialect, set string, rows [][]call, tools func(layout.Home) []verb.Tool) {
	t.Helper()
	h := home{vfs.NewMem(), d}
	s, _ := h.server(t)
	for _, u := range tools(s) {
		if !u.ReadOnly && !slices.ContainsFunc(rows, func(row []call) bool {
			return slices.ContainsFunc(row, func(c call) bool { return c.tool == u.Name })
		}) {
			t.Errorf("%s: %s writes, and no row says how: add one", set, u.Name)
		}
	}
}

// lostNothing lets an agent write, a person edit, and the agent write again: in the
// same session, and in that of a new server.
func lostNothing(
	t *testing.T,
	d layout.Dialect,
	tools func(layout.Home) []verb.Tool,
	begin, c call,
	change func(string) string,
) {
	for _, fresh := range []bool{false, true} {
		h := home{vfs.NewMem(), d}
		s, ctx := h.server(t)
		if err := begin.make(t, ctx, s, tools(s), first); err != nil {
			t.Fatalf("%s: %v", begin.tool, err)
		}
		h.edit(t, change)
		if !h.stands(t) {
			t.Fatal("the person's edit was not made")
		}
		if fresh {
			s, ctx = h.server(t)
		}
		err := c.make(t, ctx, s, tools(s), later)
		if !h.stands(t) {
			t.Errorf("fresh %v: %s took away what a person typed; it said %v", fresh, c.tool, err)
		}
		if err != nil && !errors.Is(err, oxbow.ErrUnsupported) &&
			(!errors.Is(err, oxbow.ErrConflict) || !strings.Contains(err.Error(), typed)) {
			t.Errorf("fresh %v: %s said %v; want the text that stands", fresh, c.tool, err)
		}
		// What was shown can be replaced.
		if again := c.make(t, ctx, s, tools(s), later); err != nil && again != nil &&
			!errors.Is(again, oxbow.ErrUnsupported) {
			t.Errorf("fresh %v: the second %s said %v", fresh, c.tool, again)
		}
	}
}

// eachRow calls fn with each row of writers, and with oxbow's own tools that replace.
func eachRow(t *testing.T, fn func(t *testing.T, d layout.Dialect, row []call, tools func(layout.Home) []verb.Tool)) {
	for _, d := range dialects {
		for _, row := range writers[d.Name] {
			t.Run(d.Name+"/"+row[0].tool, func(t *testing.T) { fn(t, d, row, layout.Home.Tools) })
		}
		t.Run(d.Name+"/own", func(t *testing.T) {
			fn(t, d, own[0][:2], func(layout.Home) []verb.Tool { return verb.Tools() })
		})
	}
}

// What a tool wrote, and nobody changed since, is replaced or removed by the first call
// of a session that was not shown it.
func TestToolsOverwriteWhatToolsWrote(t *testing.T) {
	eachRow(t, func(t *testing.T, d layout.Dialect, row []call, tools func(layout.Home) []verb.Tool) {
		for _, c := range row {
			h := home{vfs.NewMem(), d}
			s, ctx := h.server(t)
			if err := row[0].make(t, ctx, s, tools(s), first); err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{later, "Another text."} {
				s, ctx = h.server(t)
				if err := c.make(t, ctx, s, tools(s), text); err != nil {
					t.Errorf("the first %s of a session: %v", c.tool, err)
				}
				if c.tool != "forget" {
					continue
				}
				if _, err := s.Memory().Store().Get(ctx, "n"); !errors.Is(err, oxbow.ErrNotFound) {
					t.Errorf("after forget, Get = %v", err)
				}
				break
			}
		}
	})
}

// A person's line that was merged into a tool's text, or that a tool wrote again, stays
// protected from sessions that were not shown it.
func TestMergedLinesStayProtected(t *testing.T) {
	const changed = "Line one, changed.\nLine two.\nLine three."
	for name, second := range map[string]string{"merged": changed, "written again": changed + "\n" + typed} {
		t.Run(name, func(t *testing.T) {
			eachRow(t, func(t *testing.T, d layout.Dialect, row []call, tools func(layout.Home) []verb.Tool) {
				for _, c := range row {
					h := home{vfs.NewMem(), d}
					s, ctx := h.server(t)
					if err := row[0].make(t, ctx, s, tools(s), first); err != nil {
						t.Fatal(err)
					}
					h.edit(t, edits["append"])
					if err := row[0].make(t, ctx, s, tools(s), second); err != nil {
						t.Fatal(err)
					}
					if !h.stands(t) {
						t.Fatal("the merge lost what the person typed")
					}
					s, ctx = h.server(t)
					err := c.make(t, ctx, s, tools(s), "Another text.")
					if !h.stands(t) {
						t.Errorf("the first %s of a session took away what a person typed; it said %v", c.tool, err)
					}
				}
			})
		})
	}
}
