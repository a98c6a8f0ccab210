// This file tests how versions of an entry are merged.

package team

import (
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// entryFrom parses an entry from a short form s: "name|content|alias,alias|key:value,…". Each "/" in the content
// becomes a line break. Parts at the end may be missing.
func entryFrom(t testing.TB, s string) oxbow.Entry {
	t.Helper()
	parts := append(strings.Split(s, "|"), "", "", "")
	e := oxbow.Entry{
		Name:    parts[0],
		Content: strings.ReplaceAll(parts[1], "/", "\n"),
		Created: time.Unix(1767225600, 0).UTC(),
	}
	if parts[2] != "" {
		e.Aliases = strings.Split(parts[2], ",")
	}
	for _, l := range strings.Split(parts[3], ",") {
		if l != "" {
			label, err := oxbow.ParseLabel(l)
			if err != nil {
				t.Fatal(err)
			}
			e.Labels = append(e.Labels, label)
		}
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	return e
}

// These lines surround and separate the two texts of a conflict.
var conflictOpen, conflictOr, conflictClose = conflictComments()

func conflictComments() (before, between, after string) {
	e, err := threeway.MergeKeepingBoth(&oxbow.Entry{}, &oxbow.Entry{Content: "a"}, &oxbow.Entry{Content: "b"})
	lines := strings.Split(e.Content, "\n")
	if err != nil || len(lines) != 5 {
		panic("the merge of two texts is " + e.Content)
	}
	return lines[0], lines[2], lines[4]
}

func short(e oxbow.Entry) string {
	var labels []string
	for _, l := range e.Labels {
		labels = append(labels, l.String())
	}
	content := strings.NewReplacer(conflictOpen, "{", conflictOr, "or", conflictClose, "}", "\n", "/").Replace(
		e.Content,
	)
	return strings.Join([]string{e.Name, content, strings.Join(e.Aliases, ","), strings.Join(labels, ",")}, "|")
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ what, base, ours, theirs, want string }{
		{"labels and aliases are sets", "n|x|p,q|a:1,b:1", "n|x|p,r|a:1,c:1", "n|x|p,q,s|b:1,d:1", "n|x|p,r,s|c:1,d:1"},
		{"lines apart", "n|1/2/3/4/5", "n|1a/2/3/4/5", "n|1/2/3/4/5b", "n|1a/2/3/4/5b||"},
		{"the same line", "n|1/2/3", "n|1/2a/3", "n|1/2b/3", "n|1/{/2a/or/2b/}/3||conflict:content"},
		{"lines that touch", "n|1/2/3/4", "n|1/2a/3/4", "n|1/2/3b/4", "n|1/{/2/3b/or/2a/3/}/4||conflict:content"},
		{"the same change twice", "n|1/2/3", "n|1/2a/3", "n|1/2a/3||k:v", "n|1/2a/3||k:v"},
		{"one deletes, one edits a line", "n|1/2/3", "n|1/3", "n|1/2b/3", "n|1/{/or/2b/}/3||conflict:content"},
		{"one renames", "n|1|", "m|1|", "n|1|a", "m|1|a|"},
		{"both rename", "n|1|", "m|1|", "l|1|", "l|1|m|conflict:name"},
		{"the newer status", "n|1||status:open", "n|1||status:done", "n|1a||status:open", "n|1a||status:done"},
		{"two newer statuses", "n|1||status:open", "n|1||status:done", "n|1||status:dropped",
			"n|1||conflict:status,status:done,status:dropped"},
		{"a conflict of what the base had", "n|1/2/3/4", "n|1/2/3/4a", "n|1/{/2/or/2b/}/3/4||conflict:content",
			"n|1/{/2/or/2b/}/3/4a||conflict:content"},
		{"a conflict that one side settles", "n|1/{/2a/or/2b/}/3||conflict:content", "n|1/2b/3",
			"n|1/{/2a/or/2b/}/3||conflict:content,k:v", "n|1/2b/3||k:v"},
	} {
		expand := strings.NewReplacer("{", conflictOpen, "or", conflictOr, "}", conflictClose)
		file := func(s string) string {
			e := entryFrom(t, expand.Replace(strings.ReplaceAll(s, "dropped", "dr0pped")))
			return FormatEntry(e)
		}
		for _, sides := range [][2]string{{c.ours, c.theirs}, {c.theirs, c.ours}} {
			got, err := Merge(file(c.base), file(sides[0]), file(sides[1]))
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
				continue
			}
			e, _, err := parseEntry(got)
			if s := strings.ReplaceAll(short(e), "dr0pped", "dropped"); err != nil ||
				strings.TrimRight(s, "|") != strings.TrimRight(c.want, "|") {
				t.Errorf("%s: Merge() = %s, %v, want %s", c.what, s, err, c.want)
			}
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	good := noteFile("a", "one\ntwo")
	for what, bad := range map[string]string{
		"no entry": "just text\n", "markers": noteFile("a", "<<<<<<< x\n=======\n>>>>>>> y"),
		"a value that is kept with the text": strings.Replace(good, "\n---\n", "\nby: me\n---\n", 1),
	} {
		if got, err := Merge(good, bad, noteFile("a", "three")); err == nil {
			t.Errorf("%s: Merge() = %q, want an error", what, got)
		}
	}
	settle := noteFile("a", strings.Join([]string{"1", conflictOpen, "2a", conflictOr, "2b", conflictClose}, "\n"))
	if got, err := Merge(
		settle,
		strings.Replace(settle, "2a", "2x", 1),
		strings.Replace(settle, "2a", "2y", 1),
	); err == nil {
		t.Errorf("Merge() of a conflict within a conflict = %q, want an error", got)
	}
	if e := (oxbow.Entry{Name: "a", Created: time.Unix(5, 0)}); true {
		early, late := FormatEntry(e), strings.ReplaceAll(FormatEntry(e), "00:00:05", "00:00:09")
		got, err := Merge("", late, early)
		if p, _, perr := parseEntry(got); err != nil || perr != nil || p.Created.Unix() != 5 {
			t.Errorf("Merge() of two new files = %q, %v, want the earlier date", got, err)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(noteFile("a", "1\n2\n3"), noteFile("a", "1\n2a\n3"), noteFile("b", "1\n2b\n3"))
	f.Add("", "<div id=\"meta\">\n</div>", noteFile("a", conflictOpen+"\n"+conflictOr+"\n"+conflictClose))
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		got, err := Merge(base, ours, theirs)
		other, oerr := Merge(base, theirs, ours)
		if (err == nil) != (oerr == nil) || (got != other && ours != theirs) {
			t.Fatalf("Merge() = %q, %v; the other way %q, %v", got, err, other, oerr)
		}
		if err != nil || got == ours || got == theirs {
			return
		}
		e, _, err := parseEntry(got)
		if err != nil {
			t.Fatalf("Merge() gave what cannot be read: %v", err)
		}
		again, err := Merge(base, got, ours)
		if a, _, perr := parseEntry(again); err == nil && (perr != nil || a.Name != e.Name) {
			t.Fatalf("merging ours again renames %q to %q: %v", e.Name, a.Name, perr)
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add("version: 1\nbranch: main\n")
	f.Add("branch: [a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSettings("team.yaml", text)
		if (err != nil && s.Branch != "" && !isBranchName(s.Branch)) ||
			(err == nil && s.Branch != "" && !isBranchName(s.Branch)) {
			t.Fatalf("parseSettings(%q) = %+v, %v", text, s, err)
		}
		if err == nil {
			if again, err := parseSettings("team.yaml", formatSettings(s)); err != nil || again != s {
				t.Fatalf("%q is read back as %+v, %v", formatSettings(s), again, err)
			}
		}
	})
}
