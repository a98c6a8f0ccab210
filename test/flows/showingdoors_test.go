// This file tests that pages, shared files, copies and handoffs show only the entries that store.Entry.MayShow
// permits.

package flows

import (
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// filesBelow returns the contents of all files in a directory and below it.
func filesBelow(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readEntries returns the entries of a home by their names.
func readEntries(t *testing.T, home string) map[string]oxbow.Entry {
	t.Helper()
	entries := map[string]oxbow.Entry{}
	m, err := oxbow.Open(filepath.Join(home, "memory.oxbow"), &oxbow.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		entries[e.Name] = e
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return entries
}

// outgoing returns the web pages and the commands that show notes or write them into files. The page for a list of
// entries may omit entries. The followed folder, which oxbow keeps up to date, gets only notes with the tag "vault".
// The last of these interfaces shares the note with a team, which moves the note out of the home.
func outgoing(f *flow) []showing {
	page, stop := f.openPages(f.t)
	f.t.Cleanup(stop)
	export := func(client string, args ...string) func(*flow, string) string {
		return func(f *flow, note string) string {
			f.vars["CLAUDECODE"] = client
			defer delete(f.vars, "CLAUDECODE")
			dir := filepath.Join(f.t.TempDir(), "out")
			typed := make([]string, len(args))
			for i, a := range args {
				typed[i] = strings.ReplaceAll(a, "DIR", dir)
			}
			_, out, _ := f.run(f.t, typed...)
			if _, err := os.Stat(dir); err == nil {
				out += filesBelow(f.t, dir)
			}
			return out
		}
	}
	return []showing{
		{"page of an entry", oxbow.RequestedByPerson, false, false, func(_ *flow, note string) string {
			return page("entries/" + note)
		}},
		{"page of versions", oxbow.RequestedByPerson, false, false, func(_ *flow, note string) string {
			return page("entries/" + note + "/versions")
		}},
		{"page of a search", oxbow.BySearch, false, false, func(*flow, string) string {
			return page("find?q=harbor")
		}},
		{"page of entries", oxbow.RequestedByPerson, true, false, func(*flow, string) string { return page("") }},
		{"page of the context at the start", oxbow.AtStart, false, false, func(*flow, string) string {
			return page("context")
		}},
		{"page of the context of a profile", oxbow.Unasked, false, false, func(*flow, string) string {
			return page("context?event=profile&profile=work")
		}},
		{"export of a person", oxbow.RequestedByPerson, false, false, export("", "export")},
		{"export of an agent", oxbow.RequestedByModel, false, false, export("1", "export")},
		{
			"export to OKF of a person",
			oxbow.RequestedByPerson,
			false,
			false,
			export("", "export", "--to", "okf", "DIR"),
		},
		{
			"export to OKF of an agent",
			oxbow.RequestedByModel,
			false,
			false,
			export("1", "export", "--to", "okf", "DIR"),
		},
		{"dump of a person", oxbow.RequestedByPerson, false, false, export("", "dump", "DIR")},
		{"dump of an agent", oxbow.RequestedByModel, false, false, export("1", "dump", "DIR")},
		{"followed folder", oxbow.WithoutLabels, false, false, func(f *flow, _ string) string {
			f.must(f.t, "list", "--limit", "1") // This command writes the files.
			return filesBelow(f.t, filepath.Join(f.dir, "vault"))
		}},
		{"team", oxbow.WithoutLabels, false, false, func(f *flow, note string) string {
			f.run(f.t, "team", "share", note)
			return filesBelow(f.t, filepath.Join(f.dir, ".oxbow/team"))
		}},
	}
}

// TestPagesAndFilesAgree is like TestInterfacesAgree, but tests the web pages, and the files that oxbow writes for
// other programs and people. All of them must hide or show the same notes.
func TestPagesAndFilesAgree(t *testing.T) {
	f := newFlow(t)
	if err := os.RemoveAll(filepath.Join(f.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	f.runGit(t, "init", "-q", ".")
	f.must(t, "profile", "new", "work", "--project", "harbor")
	if err := os.Mkdir(filepath.Join(f.dir, "vault"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.file(t, "vault/first.md", "The pier of harbor is long.\n")
	f.must(t, "folder", "add", "vault", "--write")
	f.must(t, "team", "init")
	for _, n := range hostileNotes {
		n.by(f, n.name, n.text)
		f.must(t, "label", "add", "tag:vault", "--name", n.name)
	}
	home := filepath.Join(f.vars["HOME"], ".local/share/oxbow")
	f.compareShown(t, outgoing(f), readEntries(t, home), "")
	f.must(t, "check")
}

// compareShown compares what each interface in the list all shows with the result of Entry.MayShow for each hostile
// note. An interface must not show a note that MayShow refuses, or (unless mayOmit is set) hide one that it permits. No
// answer may contain secret, if it is not empty. The results count notes by the occasion on which they may be shown:
// shown counts notes that an interface showed, and held counts those that MayShow refuses.
func (f *flow) compareShown(
	t *testing.T,
	all []showing,
	entries map[string]oxbow.Entry,
	secret string,
) (shown, held map[oxbow.Occasion]int) {
	t.Helper()
	shown, held = map[oxbow.Occasion]int{}, map[oxbow.Occasion]int{}
	for _, s := range all {
		for _, n := range hostileNotes {
			e := entries[n.name]
			if e.ID == 0 {
				t.Fatalf("the note %q is not in the home", n.name)
			}
			if e.Trust() != n.trust {
				t.Fatalf("the trust in the note %q is %s, want %s", n.name, e.Trust(), n.trust)
			}
			may := e.MayShow(s.on)
			answer := s.show(f, n.name)
			word := wordOf(n.text)
			if s.isList {
				word = "memory://entry/" + n.name
			}
			got := strings.Contains(answer, word)
			if (got && !may) || (may && !got && !s.mayOmit) {
				t.Errorf("%s shows %q: %t, but MayShow returns %t (%s, %v): %s", s.name, n.name, got, may,
					e.WhyHeld(s.on), e.Labels, clipped(answer))
			}
			if got {
				shown[s.on]++
			}
			if !may {
				held[s.on]++
			}
			if secret != "" && strings.Contains(answer, secret) {
				t.Errorf("%s shows the secret", s.name)
			}
		}
	}
	return shown, held
}

// TestCopiesAgree tests that a note that is held back in the memory is also held back in a copy of the memory.
func TestCopiesAgree(t *testing.T) {
	f := newFlow(t)
	for _, n := range hostileNotes {
		n.by(f, n.name, n.text)
	}
	home := filepath.Join(f.vars["HOME"], ".local/share/oxbow")
	entries := readEntries(t, home)
	file, dir, okf := filepath.Join(f.dir, "out.jsonl"), filepath.Join(f.dir, "out"), filepath.Join(f.dir, "okf")
	f.must(t, "export", file)
	f.must(t, "export", "--to", "okf", okf)
	f.must(t, "dump", dir)
	for _, c := range []struct {
		name   string
		client string
		args   []string
	}{
		{"import of a person", "", []string{"import", file}},
		{"import of an agent", "1", []string{"import", file}},
		{"import of OKF", "", []string{"import", okf}},
		{"load of a person", "", []string{"load", dir}},
		{"load of an agent", "1", []string{"load", dir}},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := filepath.Join(t.TempDir(), "home")
			f.vars["CLAUDECODE"] = c.client
			f.must(t, append([]string{"--home", other}, c.args...)...)
			delete(f.vars, "CLAUDECODE")
			copies := readEntries(t, other)
			for _, n := range hostileNotes {
				was, now := entries[n.name], copies[n.name]
				for on := range oxbow.WithoutLabels + 1 {
					if now.ID != 0 && now.MayShow(on) && !was.MayShow(on) {
						t.Errorf(
							"the copy of %q may be shown on occasion %d (labels %v, by %s); the note may not: it %s",
							n.name,
							on,
							now.Labels,
							now.Source.Actor,
							was.WhyHeld(on),
						)
					}
				}
			}
			if len(copies) < len(hostileNotes) {
				t.Errorf("%d entries were copied", len(copies))
			}
			f.must(t, "--home", other, "check")
		})
	}
}

// leaveHandoff creates a handoff with the text of the hostile note with this name. The handoff is made by the same
// author and in the same way as the note, for example by a person at the command line, by an agent with a tool, or by
// an import.
func (f *flow) leaveHandoff(name, text string) {
	byAgent := func(read object) {
		f.callTool("session of "+name, name, text, read, object{"name": "handoff_task",
			"arguments": object{"summary": text, "project": "harbor"}})
	}
	switch name {
	case "by-person":
		f.must(f.t, "handoff", "new", text, "--project", "harbor")
	case "no-hooks":
		f.vars["GEMINI_CLI"] = "1"
		f.must(f.t, "handoff", "new", text, "--project", "harbor")
		delete(f.vars, "GEMINI_CLI")
	case "old-shaped":
		f.addByOldVersion(oxbow.Add{Name: "handoff: old", Kind: oxbow.Handoff, Content: "---\n---\n" + text,
			Labels: []oxbow.Label{{Key: "handoff", Value: "open"}, {Key: oxbow.LabelProject, Value: "harbor"}}})
	case "imported":
		line := encoded(f.t, object{"name": "handoff: in", "kind": "handoff", "content": "---\n---\n" + text,
			"project": "harbor"})
		f.must(f.t, "import", f.file(f.t, name+".jsonl", line))
	case "edited":
		f.must(f.t, "handoff", "new", "The lamp of harbor is green.", "--project", "harbor")
		f.callTool("session of "+name, name, text, readings[0], object{"name": "remember", "arguments": object{
			"name": "handoff: The lamp of harbor is green.", "content": text}})
	case "tainted", "quarantined":
		byAgent(readings[0])
	default:
		byAgent(nil)
	}
}

// handoffShowings returns the commands, pages and calls that show the handoff with the given name, and the occasion of
// each. Some of them take the handoff, so that no other session gets it.
func handoffShowings(url, name string, page func(string) string) []showing {
	command := func(client string, args ...string) func(*flow, string) string {
		return func(f *flow, _ string) string {
			f.vars["CLAUDECODE"] = client
			defer delete(f.vars, "CLAUDECODE")
			_, out, _ := f.run(f.t, args...)
			return out
		}
	}
	mcp := func(method string, params object) func(*flow, string) string {
		return func(f *flow, _ string) string { return f.mcp(method, params) }
	}
	get := func(path string) func(*flow, string) string {
		return func(f *flow, _ string) string { return f.httpGet(url + path) }
	}
	start := func(source string) func(*flow, string) string {
		return func(f *flow, note string) string {
			return f.hook(source+" "+note, "SessionStart", object{"source": source})
		}
	}
	escaped := neturl.PathEscape(name)
	return []showing{
		{"list of a person", oxbow.RequestedByPerson, false, false, command("", "handoff", "list", "--json")},
		{"list of an agent", oxbow.RequestedByModel, false, false, command("1", "handoff", "list", "--json")},
		{"list by HTTP", oxbow.RequestedByModel, false, false, get("/api/v1/handoffs")},
		{"page of handoffs", oxbow.RequestedByPerson, false, false, func(*flow, string) string {
			return page("handoffs")
		}},
		{"page of a handoff", oxbow.RequestedByPerson, false, false, func(*flow, string) string {
			return page("handoffs/" + escaped)
		}},
		{"show NAME of a person", oxbow.RequestedByPerson, false, false, command("", "handoff", "show", name)},
		{"show NAME of an agent", oxbow.RequestedByModel, false, false, command("1", "handoff", "show", name)},
		{"show NAME by HTTP", oxbow.RequestedByModel, false, false, get("/api/v1/handoffs/" + escaped)},
		{"show of a person", oxbow.WithoutLabels, false, false, command("", "handoff", "show")},
		{"show of an agent", oxbow.WithoutLabels, false, false, command("1", "handoff", "show")},
		{"start after a compaction", oxbow.Unasked, false, false, start("compact")},
		{"take", oxbow.WithoutLabels, false, false, command("", "handoff", "take")},
		{"take of an agent", oxbow.WithoutLabels, false, false, command("1", "handoff", "take")},
		{"context --handoff", oxbow.WithoutLabels, false, false, command("", "context", "--handoff")},
		{"prompt", oxbow.WithoutLabels, false, false, mcp("prompts/get", object{"name": "handoff"})},
		{"prompt with a name", oxbow.RequestedByModel, false, false, mcp("prompts/get", object{"name": "handoff",
			"arguments": object{"name": name}})},
		{"handoff_task", oxbow.WithoutLabels, false, false, mcp("tools/call", object{"name": "handoff_task",
			"arguments": object{"take": true}})},
		{"start of a session", oxbow.Unasked, false, false, start("startup")},
	}
}

// TestHandoffsAgree creates handoffs that contain the texts of the hostile notes, and reads each handoff through each
// interface. An interface must show the handoff exactly if MayShow returns true for the interface's occasion.
func TestHandoffsAgree(t *testing.T) {
	for _, n := range hostileNotes {
		t.Run(n.name, func(t *testing.T) {
			f := newFlow(t)
			f.leaveHandoff(n.name, n.text)
			home := filepath.Join(f.vars["HOME"], ".local/share/oxbow")
			var h oxbow.Entry
			for _, e := range readEntries(t, home) {
				if e.Kind == oxbow.Handoff {
					h = e
				}
			}
			if h.ID == 0 {
				t.Fatalf("the memory has no handoff: %s%s", f.out.String(), f.errs.String())
			}
			tokens := f.file(t, "tokens", "all "+tokenSecret+" rw\n")
			url := f.serve(t, "serve", "--home", home, "--tokens", tokens, "--http", ":0")
			page, stop := f.openPages(t)
			defer stop()
			for _, s := range handoffShowings(url, h.Name, page) {
				answer := s.show(f, n.name)
				if got, may := strings.Contains(answer, wordOf(n.text)), h.MayShow(s.on); got != may {
					t.Errorf("%s shows the handoff: %t, but MayShow returns %t (%s, %v): %s", s.name, got, may,
						h.WhyHeld(s.on), h.Labels, clipped(answer))
				}
				if now := readEntries(t, home)[h.Name]; slices.Contains(
					now.Labels,
					oxbow.Label{Key: "handoff", Value: "taken"},
				) {
					f.must(t, "undo")
				}
			}
			f.must(t, "check")
		})
	}
}
