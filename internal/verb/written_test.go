// This file tests the list of texts that tools have written.

package verb

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestWritten(t *testing.T) {
	fsys := vfs.NewMem()
	w := NewWrittenTexts(fsys, WrittenTextsFileName)
	e := oxbow.Entry{Name: "n", Content: "text", Aliases: []string{"a", "b"}}
	if w.HasEntry(e) {
		t.Error("an empty list has an entry")
	}
	w.RecordWrite(oxbow.Entry{}, e)
	w.RecordWrite(oxbow.Entry{}, e)
	if data, err := vfs.ReadFile(fsys, WrittenTextsFileName, -1); err != nil || len(data) != 2*entryHashLineBytes {
		t.Errorf("the file has %q, %v; want a hash of the text and one of its line", data, err)
	}
	w = NewWrittenTexts(fsys, WrittenTextsFileName)
	for _, tt := range []struct {
		entry oxbow.Entry
		want  bool
	}{
		{e, true},
		{oxbow.Entry{Name: "n", Content: "text\n", Aliases: []string{"b", "a"}}, true},
		{oxbow.Entry{Name: "n", Content: "text"}, false},
		{oxbow.Entry{Name: "m", Content: "text", Aliases: e.Aliases}, false},
		{oxbow.Entry{Name: "n", Content: "a text", Aliases: e.Aliases}, false},
		{oxbow.Entry{Name: "n", Content: "btext", Aliases: []string{"a"}}, false},
	} {
		if got := w.HasEntry(tt.entry); got != tt.want {
			t.Errorf("Has(%+v) = %v, want %v", tt.entry, got, tt.want)
		}
	}
	if (*WrittenTexts)(nil).HasEntry(e) {
		t.Error("a nil list has an entry")
	}
}

// TestWrittenLines tests which texts RecordWrite adds to the list of texts that tools have written. The arguments of
// RecordWrite are the text before and after a write by a tool. The new text is in the list only if no line or alias
// remains that a person wrote. A line is not by a person if a tool has written it before, or if it is new.
func TestWrittenLines(t *testing.T) {
	text := func(lines ...string) oxbow.Entry {
		return oxbow.Entry{Name: "n", Content: strings.Join(lines, "\n")}
	}
	aliased := text("a")
	aliased.Aliases = []string{"person's"}
	for _, tt := range []struct {
		name    string
		was, is oxbow.Entry
		want    bool
	}{
		{"new", oxbow.Entry{}, text("x"), true},
		{"all of a listed text", text("a", "b"), text("c"), true},
		{"a part of a listed text stays", text("a", "b"), text("a", "c"), true},
		{"a person's text goes", text("p"), text("x"), true},
		{"a person's line stays", text("p", "q"), text("q", "x"), false},
		{"a person's line goes, a tool's stays", text("a", "b", "p"), text("a", "x"), true},
		{"a person's line stays beside a tool's", text("a", "b", "p"), text("a", "p"), false},
		{"a person's alias stays", aliased, oxbow.Entry{Name: "n", Content: "x", Aliases: aliased.Aliases}, false},
		{"a person's alias goes", aliased, text("x"), true},
		{"blank lines do not count", text("p", "", "q"), text("x", "", "y"), true},
	} {
		w := NewWrittenTexts(vfs.NewMem(), WrittenTextsFileName)
		w.RecordWrite(oxbow.Entry{}, text("a", "b"))
		w.RecordWrite(tt.was, tt.is)
		if got := w.HasEntry(tt.is); got != tt.want {
			t.Errorf("%s: Has = %v, want %v", tt.name, got, tt.want)
		}
		if w.HasEntry(tt.was) && tt.was.Content != text("a", "b").Content && tt.was.Name != "" {
			t.Errorf("%s: the text before is listed", tt.name)
		}
	}
}

// TestWrittenFile tests that an incomplete line in the file does not affect the other lines. It also tests that the
// older half of the lines is dropped if the file has more than maxHashFileLines lines.
func TestWrittenFile(t *testing.T) {
	fsys := vfs.NewMem()
	w := NewWrittenTexts(fsys, WrittenTextsFileName)
	entry := func(i int) oxbow.Entry { return oxbow.Entry{Name: "n", Content: fmt.Sprint(i)} }
	w.RecordWrite(oxbow.Entry{}, entry(0))
	f, err := fsys.OpenFile(WrittenTextsFileName, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("torn"), 2*entryHashLineBytes); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// The incomplete line spoils the first of this entry's two hashes, but not the second.
	w.RecordWrite(oxbow.Entry{}, entry(1))
	w.RecordWrite(oxbow.Entry{}, entry(2))
	for i := range 3 {
		if !w.HasEntry(entry(i)) {
			t.Errorf("after a torn line the list lacks text %d", i)
		}
	}
	var all strings.Builder
	for i := range maxHashFileLines {
		all.WriteString(hashEntry(entry(i)) + "\n")
	}
	if err := vfs.WriteFile(fsys, WrittenTextsFileName, []byte(all.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	w.RecordWrite(oxbow.Entry{}, entry(maxHashFileLines))
	if w.HasEntry(entry(0)) || !w.HasEntry(entry(maxHashFileLines/2+2)) || !w.HasEntry(entry(maxHashFileLines)) {
		t.Error("the older half was not dropped, or more than it")
	}
}

func FuzzParseWritten(f *testing.F) {
	f.Add("")
	f.Add(strings.Repeat("0f", entryHashBytes) + "\n\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, hash := range parseHashes(text) {
			if len(hash) != 2*entryHashBytes || !strings.Contains(text, hash+"\n") {
				t.Errorf("parseHashes(%q) has %q", text, hash)
			}
		}
	})
}
