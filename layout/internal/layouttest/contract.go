// This file tests what every tool that writes must guarantee: nothing that a person typed is lost.

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
	"github.com/oxbow-memory/oxbow/vfs"
)

// WriteCall is a call of a tool. An argument with the value "TEXT" is replaced by the text to write.
type WriteCall struct {
	Tool string
	Args Args
}

// CheckWriteTools tests the tools that write to a home in the layout of d. In each test, a tool writes a text, a person
// edits the text, and a tool writes again. The test fails if the second call loses the person's words. It also fails if
// a tool cannot replace a text that only tools have written.
//
// Each element in callLists is a list of calls that write the same text. The first call of a list creates the text, and
// then each call of the list is tested with this text. Therefore each call that can create a text must be the first
// call of a list. The test fails if a tool that may write is in no list.
func CheckWriteTools(t *testing.T, d layout.Dialect, callLists [][]WriteCall) {
	t.Helper()
	checkWriterContract(t, writerContract{d, layout.Home.Tools, callLists, callLists})
}

// writerContract is a layout's set of tools, with the calls to test.
type writerContract struct {
	dialect layout.Dialect
	tools   func(layout.Home) []verb.Tool
	// In each row, the first call writes a text, and a person edits it. No call of the row may then lose the person's
	// text.
	callListsKeepingEdits      [][]WriteCall
	callListsReplacingToolText [][]WriteCall // In each row, the calls must replace a text that only tools have written.
}

func checkWriterContract(t *testing.T, c writerContract) {
	t.Helper()
	c.checkAllWritersListed(t)
	for _, row := range c.callListsKeepingEdits {
		for _, later := range row {
			for name, change := range personEdits {
				t.Run(strings.Join([]string{"keeps", row[0].Tool, later.Tool, name}, "/"), func(t *testing.T) {
					c.checkPersonTextKept(t, row[0], later, change)
				})
			}
		}
	}
	for _, row := range c.callListsReplacingToolText {
		t.Run("overwrites/"+row[0].Tool, func(t *testing.T) { c.checkToolTextReplaced(t, row) })
		t.Run("merged/"+row[0].Tool, func(t *testing.T) { c.checkMergedLinesKept(t, row, changedText) })
		t.Run(
			"written again/"+row[0].Tool,
			func(t *testing.T) { c.checkMergedLinesKept(t, row, changedText+"\n"+personText) },
		)
	}
}

const (
	firstText       = "Line one.\nLine two.\nLine three."
	textAfterChange = "Line one, changed.\nLine two.\nLine three.\nLine four."
	personText      = "A PERSON TYPED THIS"

	changedText = "Line one, changed.\nLine two.\nLine three."
)

// personEdits contains the changes that a person makes to firstText, by name.
var personEdits = map[string]func(text string) string{
	"append":        func(s string) string { return strings.Replace(s, "Line three.", "Line three.\n"+personText, 1) },
	"change a line": func(s string) string { return strings.Replace(s, "Line two.", "Line two. "+personText, 1) },
	"the same line": func(s string) string { return strings.Replace(s, "Line one.", personText, 1) },
	"replace all":   func(s string) string { return strings.Replace(s, firstText, personText, 1) },
}

// sharedHome is a directory that a person and agents edit.
type sharedHome struct {
	fsys    vfs.FS
	dialect layout.Dialect
}

func (h sharedHome) options() layout.Options {
	now := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	return layout.Options{FS: h.fsys, Path: "/home", Zone: time.UTC, Memory: oxbow.Options{Clock: func() time.Time {
		return now
	}}}
}

// openWithNewSession opens the home like a server, with a new session.
func (h sharedHome) openWithNewSession(t *testing.T) (layout.Home, context.Context) {
	t.Helper()
	s, err := h.dialect.Open(t.Context(), h.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, verb.WithSeenEntries(t.Context(), verb.NewSeenEntries(s.Written()))
}

// callTool makes the call. Arguments with the value "TEXT" get the given text.
func (c WriteCall) callTool(t *testing.T, ctx context.Context, s layout.Home, tools []verb.Tool, text string) error {
	t.Helper()
	in := Args{}
	for k, v := range c.Args {
		in[k] = v
		if v == "TEXT" {
			in[k] = text
		}
	}
	_, err := callToolWithContext(ctx, t, Workspace(s), tools, c.Tool, in)
	return err
}

// editFirstTextAsPerson edits the stored firstText as a person would. It passes the text to the function change and
// stores the result. If firstText is in a text file of the home, the file is edited. Otherwise (for example if the text
// is in the database memory.db), the entry "n" is updated in a new session.
func (h sharedHome) editFirstTextAsPerson(t *testing.T, change func(string) string) {
	t.Helper()
	for _, name := range listFileNames(t, h.fsys, ".") {
		if text := ReadFile(t, h.fsys, name); strings.Contains(text, firstText) && name != "memory.db" {
			WriteFile(t, h.fsys, name, change(text))
			return
		}
	}
	p, ctx := h.openWithNewSession(t)
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

// listFileNames returns the names of all files, except the undo files and the files that only oxbow reads.
func listFileNames(t *testing.T, fsys vfs.FS, dir string) (names []string) {
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
			names = append(names, listFileNames(t, fsys, name)...)
		default:
			names = append(names, name)
		}
	}
	return names
}

// hasPersonText reports whether a file still contains the text that the person typed.
func (h sharedHome) hasPersonText(t *testing.T) bool {
	t.Helper()
	return slices.ContainsFunc(listFileNames(t, h.fsys, "."), func(name string) bool {
		return strings.Contains(ReadFile(t, h.fsys, name), personText)
	})
}

// checkAllWritersListed fails the test for each tool of the layout that may write and that no call in
// c.callListsKeepingEdits uses.
func (c writerContract) checkAllWritersListed(t *testing.T) {
	t.Helper()
	h := sharedHome{vfs.NewMem(), c.dialect}
	s, _ := h.openWithNewSession(t)
	for _, u := range c.tools(s) {
		isInRow := slices.ContainsFunc(c.callListsKeepingEdits, func(row []WriteCall) bool {
			return slices.ContainsFunc(row, func(made WriteCall) bool { return made.Tool == u.Name })
		})
		if !u.ReadOnly && !isInRow {
			t.Errorf("%s of %s writes, and no row has a call of it: add a row", u.Name, c.dialect.Name)
		}
	}
}

// checkPersonTextKept tests that an agent's call does not remove words that a person has typed. In each test, an agent
// writes with firstCall, a person edits the text with the function change, and the agent writes again with call. The
// test runs twice. In the first run, the agent makes both calls in the same session. In the second run, it makes the
// second call in a new session.
func (c writerContract) checkPersonTextKept(t *testing.T, firstCall, call WriteCall, change func(string) string) {
	for _, fresh := range []bool{false, true} {
		h := sharedHome{vfs.NewMem(), c.dialect}
		s, ctx := h.openWithNewSession(t)
		if err := firstCall.callTool(t, ctx, s, c.tools(s), firstText); err != nil {
			t.Fatalf("%s: %v", firstCall.Tool, err)
		}
		h.editFirstTextAsPerson(t, change)
		if !h.hasPersonText(t) {
			t.Fatal("the person's edit was not made")
		}
		if fresh {
			s, ctx = h.openWithNewSession(t)
		}
		err := call.callTool(t, ctx, s, c.tools(s), textAfterChange)
		if !h.hasPersonText(t) {
			t.Errorf("fresh %v: %s took away what a person typed; it said %v", fresh, call.Tool, err)
		}
		isRefused := errors.Is(err, oxbow.ErrUnsupported)
		showsText := errors.Is(err, oxbow.ErrConflict) && strings.Contains(err.Error(), personText)
		if err != nil && !isRefused && !showsText {
			t.Errorf("fresh %v: %s said %v; want the text that stands", fresh, call.Tool, err)
		}
		if err == nil {
			continue
		}
		// The error has shown the person's text to the session, so the session may now replace this text.
		if err := call.callTool(t, ctx, s, c.tools(s), textAfterChange); err != nil &&
			!errors.Is(err, oxbow.ErrUnsupported) {
			t.Errorf("fresh %v: the second %s said %v", fresh, call.Tool, err)
		}
	}
}

// checkToolTextReplaced checks that a new session can replace or remove a text that it has not read, if only tools have
// written the text. In each test, a session writes the text with calls[0]. Then a new session makes one of the calls,
// which must succeed. Each call is tested in its own home.
func (c writerContract) checkToolTextReplaced(t *testing.T, calls []WriteCall) {
	for _, call := range calls {
		h := sharedHome{vfs.NewMem(), c.dialect}
		s, ctx := h.openWithNewSession(t)
		if err := calls[0].callTool(t, ctx, s, c.tools(s), firstText); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{textAfterChange, "Another text."} {
			s, ctx = h.openWithNewSession(t)
			if err := call.callTool(t, ctx, s, c.tools(s), text); err != nil {
				t.Errorf("the first %s of a session: %v", call.Tool, err)
			}
			if call.Tool != "forget" {
				continue
			}
			if _, err := s.Memory().Store().Get(ctx, "n"); !errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("after forget, Get = %v", err)
			}
			break
		}
	}
}

// checkMergedLinesKept tests that a session cannot remove a line that a person wrote if the session has not seen this
// line. This must also hold if the layout merged the line into a text that a tool wrote, or if a tool wrote the line
// again. The argument secondText is the text that the tool writes after the person's edit.
func (c writerContract) checkMergedLinesKept(t *testing.T, calls []WriteCall, secondText string) {
	for _, call := range calls {
		h := sharedHome{vfs.NewMem(), c.dialect}
		s, ctx := h.openWithNewSession(t)
		if err := calls[0].callTool(t, ctx, s, c.tools(s), firstText); err != nil {
			t.Fatal(err)
		}
		h.editFirstTextAsPerson(t, personEdits["append"])
		if err := calls[0].callTool(t, ctx, s, c.tools(s), secondText); err != nil {
			t.Fatal(err)
		}
		if !h.hasPersonText(t) {
			t.Fatal("the merge lost what the person typed")
		}
		s, ctx = h.openWithNewSession(t)
		err := call.callTool(t, ctx, s, c.tools(s), "Another text.")
		if !h.hasPersonText(t) {
			t.Errorf("the first %s of a session took away what a person typed; it said %v", call.Tool, err)
		}
	}
}
