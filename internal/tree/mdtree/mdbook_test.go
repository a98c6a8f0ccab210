// This file reads the table of contents of a dump like mdbook. The Markdown of SUMMARY.md is parsed as CommonMark, and
// its structure as described in the chapter "SUMMARY.md" of mdbook's guide.

package mdtree

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// chapter is a numbered chapter of a book, in one of its parts.
type chapter struct{ part, title, path string }

// readBook returns the chapters in a table of contents. The first heading is the title of the page, which mdbook
// ignores. Each other heading begins a part. As in mdbook, everything except headings and lists of links is an error.
func readBook(t *testing.T, source string) []chapter {
	t.Helper()
	src := []byte(source)
	var chapters []chapter
	part, first := "", true
	doc := goldmark.DefaultParser().Parse(gmtext.NewReader(src))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level != 1 {
				t.Errorf("a heading of level %d: mdbook knows parts only", n.Level)
			}
			if !first {
				part = plain(n, src)
			}
			first = false
		case *ast.List:
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				line := item.FirstChild()
				if line == nil || item.ChildCount() != 1 || line.ChildCount() != 1 {
					t.Errorf("an item is not one link: %q", plain(item, src))
					continue
				}
				link, ok := line.FirstChild().(*ast.Link)
				if !ok {
					t.Errorf("an item is no link: %q", plain(item, src))
					continue
				}
				// mdbook uses the target as a file name, but decodes %20.
				target := strings.ReplaceAll(string(unslash(link.Destination)), "%20", " ")
				chapters = append(chapters, chapter{part, plain(link, src), target})
			}
		default:
			t.Errorf("%s in a table of contents", n.Kind())
		}
	}
	return chapters
}

// plain returns the text below the node n. It inserts "<MARKUP>" for each code span, emphasis, image, HTML tag and link
// in it, at the beginning and at the end.
func plain(n ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if in {
				b.Write(unslash(n.Segment.Value(src)))
			}
		case *ast.String:
			if in {
				b.Write(n.Value)
			}
		case *ast.CodeSpan, *ast.Emphasis, *ast.Image, *ast.RawHTML, *ast.AutoLink:
			b.WriteString("<MARKUP>") // part of the text was parsed as markup
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// unslash removes the backslashes before punctuation, like a renderer.
func unslash(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b[i+1]) >= 0 {
			i++
		}
		out = append(out, b[i])
	}
	return out
}

// TestMdbookReadsTheDump checks that each entry of a dump is a chapter of the book. The title of the chapter is the
// name of the entry, and its target is the file of the entry.
func TestMdbookReadsTheDump(t *testing.T) {
	s := storeOf(t)
	names := []string{"plain", "two words", "br[ack](et)", "a_b_c", "_x_ and *y*", "`code`", "<b>bold</b>",
		"a&amp;b", "![pic](x.png)",
		`back\slash`, "été", "日本語", "🦀 crab", "50%20 off", "(paren", "paren)", "1. list", "# head", "- dash",
		"https://example.org", "me@example.org", "a ~~b~~"}
	for i, name := range names {
		kind := oxbow.Note
		if i%3 == 0 {
			kind = oxbow.Archive
		}
		if err := s.Apply(t.Context(), oxbow.Add{Name: name, Kind: kind, Content: "Text of " +
			name, Created: noon}); err != nil {
			t.Fatal(err)
		}
	}
	fsys := vfs.NewMem()
	mustDump(t, s, fsys, "brain")
	tree := files(t, fsys, "brain")
	if !strings.Contains(tree[mdBookSettingsFile], `src = "."`) {
		t.Fatalf("book.toml does not say that the chapters are beside it: %q", tree[mdBookSettingsFile])
	}
	var titles, paths []string
	for _, c := range readBook(t, tree[summaryFile]) {
		if _, ok := tree[c.path]; !ok {
			t.Errorf("chapter %q leads to %q, which is not in the dump", c.title, c.path)
		}
		want := map[string]string{"Notes": "notes", "Archives": "archives"}[c.part]
		if path.Dir(c.path) != want {
			t.Errorf("chapter %q of part %q lies in %q", c.title, c.part, c.path)
		}
		titles, paths = append(titles, c.title), append(paths, c.path)
	}
	slices.Sort(titles)
	if want := slices.Sorted(slices.Values(names)); !slices.Equal(titles, want) {
		t.Errorf("chapters are %q\nwant %q", titles, want)
	}
	var entries []string
	for _, p := range slices.Sorted(maps.Keys(tree)) {
		if strings.Contains(p, "/") {
			entries = append(entries, p)
		}
	}
	slices.Sort(paths)
	if !slices.Equal(paths, entries) {
		t.Errorf("chapters lead to %q\nthe dump holds %q", paths, entries)
	}
}

// TestMdbookReadsCrabtalksTree dumps the entries of a store that crabtalk has dumped (book-dump.json). The dump must be
// a book: each chapter in its summary file must lead to a file of the dump.
func TestMdbookReadsCrabtalksTree(t *testing.T) {
	var v dumpVector
	readJSON(t, "book-dump.json", &v)
	s := v.store(t)
	fsys := vfs.NewMem()
	mustDump(t, s, fsys, "brain")
	tree := files(t, fsys, "brain")
	for _, c := range readBook(t, tree[summaryFile]) {
		if _, ok := tree[c.path]; !ok {
			t.Errorf("chapter %q leads to %q, which is not there", c.title, c.path)
		}
	}
}
