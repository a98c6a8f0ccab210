// This file tests how a store follows files, and how changes of entries are written into files.

package exchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// follow imports the text content, as the text of the file vault/boat.md, into the memory m. ImportsOverEdits is set,
// so that a changed file replaces the text of its entry even if the entry was edited.
func follow(t *testing.T, m *oxbow.Memory, content string) Report {
	t.Helper()
	items := ReadStream(strings.NewReader(content), "vault/boat.md", nil)
	r, err := Import(t.Context(), m, items, &ImportOptions{ImportsOverEdits: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFollowMerges tests how an entry that was edited in the store is merged with its edited file.
func TestFollowMerges(t *testing.T) {
	const first = "---\ntitle: Boat\ntags: [old, kept]\n---\nThe boat is red.\n"
	label := func(values ...string) (ls []oxbow.Label) {
		for _, v := range values {
			ls = append(ls, oxbow.Label{Key: oxbow.LabelTag, Value: v})
		}
		return ls
	}
	for _, tt := range []struct {
		name     string
		content  string        // content that the entry gets in the store ("" leaves it unchanged)
		tags     []oxbow.Label // labels that the entry gets in the store
		file     string
		want     string
		wantTags []string
		lost     string
	}{
		{"labels of both", "", label("kept", "here"),
			"---\ntitle: Boat\ntags: [old, kept, there]\n---\nThe boat is blue.\n",
			"The boat is blue.\n", []string{"here", "kept", "there"}, ""},
		{"the text of both", "The boat is gone.", label("old", "kept"),
			"---\ntitle: Boat\ntags: [old, kept]\n---\nThe boat is blue.\n",
			"The boat is blue.\n", []string{"kept", "old"}, "The boat is gone."},
		{"the text of the store and a label of the file", "The boat is gone.", label("old", "kept"),
			"---\ntitle: Boat\ntags: [old, kept, there]\n---\nThe boat is red.\n",
			"The boat is gone.", []string{"kept", "old", "there"}, ""},
		{"the same text in both", "The boat is blue.\n", label("old", "kept"),
			"---\ntitle: Boat\ntags: [old]\n---\nThe boat is blue.\n",
			"The boat is blue.\n", []string{"old"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := openMemory(t)
			follow(t, m, first)
			e, err := m.Get(t.Context(), "Boat")
			if err != nil {
				t.Fatal(err)
			}
			if tt.content != "" {
				e.Content = tt.content
			}
			labels := slices.DeleteFunc(e.Labels, func(l oxbow.Label) bool { return l.Key == oxbow.LabelTag })
			e.Labels = oxbow.SortLabels(append(labels, tt.tags...))
			edit := oxbow.Update{Name: "Boat", Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}
			err = m.Apply(t.Context(), edit)
			if err != nil {
				t.Fatal(err)
			}
			follow(t, m, tt.file)
			e, err = m.Get(t.Context(), "Boat")
			if err != nil || e.Content != tt.want || !slices.Equal(e.Values(oxbow.LabelTag), tt.wantTags) {
				t.Errorf("the entry is %q with %v, %v; want %q with %v",
					e.Content, e.Values(oxbow.LabelTag), err, tt.want, tt.wantTags)
			}
			lost, err := m.Get(t.Context(), "Boat (conflict copy)")
			if tt.lost != lost.Content || (err == nil) != (tt.lost != "") {
				t.Errorf("the conflict copy is %q, %v; want %q", lost.Content, err, tt.lost)
			}
			if r := follow(t, m, tt.file); r.UnchangedCount != 1 {
				t.Errorf("the same file again: %+v, want the same", r)
			}
			// After the next edit of the file, the entry must still have the label from the store.
			follow(t, m, strings.Replace(tt.file, "The boat", "Now the boat", 1))
			e, _ = m.Get(t.Context(), "Boat")
			if slices.Contains(tt.wantTags, "here") && !slices.Contains(e.Values(oxbow.LabelTag), "here") {
				t.Errorf("after another edit of the file, the tags are %v, want here in it", e.Values(oxbow.LabelTag))
			}
			if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
				t.Errorf("Check() = %v, %v", r.Problems, err)
			}
		})
	}
}

func openMemory(t *testing.T) *oxbow.Memory {
	t.Helper()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// TestRewritten tests that ReplaceContent replaces only the text of the item.
func TestRewritten(t *testing.T) {
	const long = "# Log\n\n## One\n\nfirst words\n\n## Two\n\nsecond words\n"
	for _, tt := range []struct{ name, file, content, want string }{
		{"after front matter", "---\nrating: 5 # of 5\n---\n\nold words\n", "new words",
			"---\nrating: 5 # of 5\n---\n\nnew words\n"},
		{"with Windows line ends", "---\r\ntags: [a]\r\n---\r\nold words\r\n", "new words",
			"---\r\ntags: [a]\r\n---\r\nnew words\r\n"},
		{"the whole file", long, "# Log\n\nnothing", "# Log\n\nnothing\n"},
		{"below a description", "---\ndescription: About it.\n---\nold words\n", "About it.\n\nnew words",
			"---\ndescription: About it.\n---\nnew words\n"},
		{"without the description", "---\ndescription: About it.\n---\nold words\n", "new words", ""},
	} {
		var items []Item
		for it, err := range ReadStream(strings.NewReader(tt.file), "a.md", nil) {
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, it)
		}
		content := tt.content
		// the front matter has a YAML comment, which the content begins with and must keep
		if strings.Contains(tt.file, "rating") {
			content = items[0].Entry.Content[:items[0].frontMatterTextLen] + content
		}
		got, err := ReplaceContent(tt.file, items[0], content)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestFormatNote tests that a note that was written to a file is read as the same note.
func TestFormatNote(t *testing.T) {
	e := oxbow.Entry{
		Name:    "Life vest: two",
		Content: "Vests hang in the hall.",
		Aliases: []string{"vest, two", "true"},
		Labels: oxbow.SortLabels([]oxbow.Label{{Key: "tag", Value: "boat"}, {Key: "tag", Value: "no"},
			{Key: "project", Value: "harbor"}, {Key: "rating", Value: "5"}, {Key: "file", Value: "a/b.go"}}),
	}
	text, err := FormatNote(e, true)
	if err != nil {
		t.Fatal(err)
	}
	for it, err := range ReadStream(strings.NewReader(text), "x.md", nil) {
		got := it.Entry
		isSame := got.Name == e.Name && HaveEqualBodies(got.Content, e.Content) &&
			slices.Equal(got.Aliases, e.Aliases) &&
			slices.Equal(oxbow.SortLabels(got.Labels), e.Labels)
		if err != nil || !isSame {
			t.Errorf("%s is read as %v %v %v, %v; want %v", text, got, got.Aliases, got.Labels, err, e)
		}
	}
	titled, err := SetFrontMatterTitle("---\ntags: [a]\n---\nText.\n", "A: b")
	if want := "---\ntitle: 'A: b'\ntags: [a]\n---\nText.\n"; titled != want || err != nil {
		t.Errorf("WithTitle() = %q, %v; want %q", titled, err, want)
	}
}
