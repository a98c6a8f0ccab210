// Tests of reading and editing the text of a file.

package entryfiles

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestContract(t *testing.T) {
	var last *vfs.Mem
	open := func(t *testing.T) oxbow.Store {
		s, err := mdtree.Open(t.Context(), last, treeLayout{}, mdtree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		last = vfs.NewMem()
		return open(t)
	}, storetest.Can{Labels: true, Aliases: true, Reopen: open})
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text  string
		wantName    string // "" for an error
		wantContent string
	}{
		{"as written", "---\nname: n\ndescription: d\n---\n\nc\n", "n", "d\n\nc"},
		{"no description", "---\nname: n\n---\n\nc\n", "n", "c"},
		{"no content", "---\nname: n\ndescription: d\n---\n", "n", "d\n\n"},
		{"no line end", "---\nname: n\n---\nc", "n", "c"},
		{"text on the closing line", "---\nname: n\n---c\n", "n", "c"},
		{"four dashes", "----\nname: n\n---\nc\n", "n", "c"},
		{"space before", " \n\t\n---\nname: n\n---\nc\n", "n", "c"},
		{"a mark of order", "\ufeff---\nname: n\n---\nc\n", "n", "c"},
		{"carriage returns", "---\r\nname: n\r\ndescription: d\r\n---\r\n\r\na\r\nb\r\n", "n", "d\n\na\nb"},
		{"padded", "---\n  name:   n  \n---  \n\nc\n", "n", "c"},
		{"the last name counts", "---\nname: x\nname: n\n---\nc\n", "n", "c"},
		{"markers in the content", "---\nname: n\n---\n\na\n---\nb\n", "n", "a\n---\nb"},
		{"spaces of the content", "---\nname: n\n---\n\n\n a \n\n", "n", "\n a \n"},
		{"not opened", "name: n\n---\nc", "", ""},
		{"not closed", "---\nname: n\nc", "", ""},
		{"no name", "---\ndescription: d\n---\nc", "", ""},
		{"an empty name", "---\nname:\n---\nc", "", ""},
		{"a kind that is none", "---\nname: n\noxbow-kind: x\n---\nc", "", ""},
		{"labels that are none", "---\nname: n\noxbow-labels: tag:\"x\n---\nc", "", ""},
		{"aliases without quotes", "---\nname: n\noxbow-aliases: a b\n---\nc", "", ""},
		{"a time that is none", "---\nname: n\noxbow-created: yesterday\n---\nc", "", ""},
	} {
		items, err := treeLayout{}.Parse("x.md", tt.text)
		switch {
		case tt.wantName == "":
			if err == nil {
				t.Errorf("%s: Parse() = %+v, want an error", tt.name, items)
			}
		case err != nil || len(items) != 1 || items[0].Entry.Name != tt.wantName ||
			items[0].Entry.Content != tt.wantContent:
			t.Errorf("%s: Parse() = %+v, %v; want %q, %q", tt.name, items, err, tt.wantName, tt.wantContent)
		}
	}
}

// TestEditsSplice tests that a change of an entry leaves the other bytes of the entry's file as they are. It may only
// add the line oxbow-created.
func TestEditsSplice(t *testing.T) {
	odd := "\ufeff---\r\nx-key:   odd  value\t\r\n  name:  n \r\n# a remark\r\ndescription:\told words \r\ntags: [a, " +
		"b]\r\n---\r\n\r\nold\r\nlines\r\n\r\n"
	created := "oxbow-created: 2026-04-14T12:00:00Z\r\n"
	label := []oxbow.Label{{Key: "tag", Value: "two words"}, {Key: "project", Value: "vtt"}}
	for _, tt := range []struct {
		name, text string
		op         oxbow.Op
		want       string
	}{
		{"the content", odd, oxbow.Update{Name: "n", Content: "old words\n\nnew\nlines\n"},
			strings.Replace(strings.Replace(odd, "old\r\n", "new\r\n", 1), "tags: [a, b]\r\n", "tags: [a, b]\r\n"+
				created, 1)},
		{"the description", odd, oxbow.Update{Name: "n", Content: "new words\n\nold\nlines\n"},
			strings.Replace(strings.Replace(odd, "old words", "new words", 1), "tags: [a, b]\r\n", "tags: [a, b]\r\n"+
				created, 1)},
		{"labels", odd, oxbow.Relabel{Name: "n", Labels: label},
			strings.Replace(odd, "tags: [a, b]\r\n", "tags: [a, b]\r\noxbow-labels: project:vtt tag:\"two words\"\r\n"+
				created, 1)},
		{"aliases", odd, oxbow.Alias{Name: "n", Aliases: []string{"a \"b\"", "c"}},
			strings.Replace(odd, "tags: [a, b]\r\n", "tags: [a, b]\r\noxbow-aliases: \"a \\\"b\\\"\" \"c\"\r\n"+
				created, 1)},
		{"a description for a file without", "---\nname: n\nx: y\n---\nc", oxbow.Update{Name: "n", Content: "d\n\nc"},
			"---\nname: n\ndescription: d\nx: y\noxbow-created: 2026-04-14T12:00:00Z\n---\nc"},
		{
			"a paragraph more in a file without",
			"---\nname: n\n---\np\n\nq",
			oxbow.Update{Name: "n", Content: "p\n\nq\n\nr"},
			"---\nname: n\noxbow-created: 2026-04-14T12:00:00Z\n---\np\n\nq\n\nr",
		},
		{
			"the description goes",
			"---\nname: n\ndescription:  d\n---\n\nc\n",
			oxbow.Update{Name: "n", Content: "one line"},
			"---\nname: n\ndescription: \noxbow-created: 2026-04-14T12:00:00Z\n---\n\none line\n",
		},
		{"spaces that the file's would swallow", "---\nname: n\n---c", oxbow.Update{Name: "n", Content: "\n\nc\n"},
			"---\nname: n\noxbow-created: 2026-04-14T12:00:00Z\n---\n\n\n\nc\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			if err := fsys.MkdirAll(entriesDir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := fsys.Put(entriesDir+"/some file.md", []byte(tt.text), 0o644, noon); err != nil {
				t.Fatal(err)
			}
			s, err := mdtree.Open(t.Context(), fsys, treeLayout{}, mdtree.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.Apply(t.Context(), tt.op); err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, entriesDir+"/some file.md"); got != tt.want {
				t.Errorf("the file is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestLabelsAndAliasesRoundTrip(t *testing.T) {
	labels := []oxbow.Label{
		{Key: "tag", Value: `a "quote" \ and: colon`},
		{Key: "file", Value: "a b/c.go"},
		{Key: "x-y", Value: "日本 語"},
	}
	got, err := splitLabelLine(formatLabels(labels))
	if err != nil || len(got) != 3 {
		t.Fatalf("cutLabels() = %q, %v", got, err)
	}
	var back []oxbow.Label
	for _, w := range got {
		l, err := oxbow.ParseLabel(w)
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, l)
	}
	if !slices.Equal(back, oxbow.SortLabels(labels)) {
		t.Errorf("labels come back as %v", back)
	}
}

func TestFreePath(t *testing.T) {
	taken := map[string]bool{"memory/entries/a.md": true, "memory/entries/a-2.md": true}
	long := strings.Repeat("é", 128)
	for _, tt := range []struct{ name, want string }{
		{"a", "memory/entries/a-3.md"},
		{"b", "memory/entries/b.md"},
		{"!", "memory/entries/entry.md"},
		{"con", "memory/entries/con-2.md"},
		{"COM1", "memory/entries/com1-2.md"},
		{"../../etc/passwd", "memory/entries/etc-passwd.md"},
	} {
		if got := unusedEntryPath(tt.name, func(p string) bool { return taken[p] }); got != tt.want {
			t.Errorf("freePath(%q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	none := func(string) bool { return false }
	a, b := unusedEntryPath(long, none), unusedEntryPath(long[:254]+"xy", none)
	if a == b || len(a) > len("memory/entries/")+maxSlugBytes+3 {
		t.Errorf("long names have the files %q and %q", a, b)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: n\ndescription: d\n---\n\nc\n", "new\n\ncontent\n")
	f.Add("\ufeff\r\n----\r\nname: n\r\nname:x\r\noxbow-labels: a:b c:\"d e\"\r\n---tail\r\n", "\n")
	f.Add("---\nname: n\n---", "---\nname: evil\n---\n")
	f.Fuzz(func(t *testing.T, text, content string) {
		items, err := treeLayout{}.Parse("x.md", text)
		if err != nil {
			return
		}
		e := items[0].Entry
		now := e.Clone()
		now.Content = content
		edited, err := rewriteFile(text, e, now)
		if err != nil {
			t.Fatalf("rewrite() = %v", err)
		}
		back, err := treeLayout{}.Parse("x.md", edited)
		if err != nil {
			t.Fatalf("a file that was edited cannot be read: %v\n%q", err, edited)
		}
		got := back[0].Entry
		if got.Name != e.Name || got.Kind != e.Kind || !slices.Equal(got.Aliases, e.Aliases) {
			t.Errorf("an edit of the content made %+v of %+v", got, e)
		}
		if got.Content != content && !strings.Contains(content, "\r") {
			t.Errorf("content %q came back as %q from %q", content, got.Content, edited)
		}
	})
}
