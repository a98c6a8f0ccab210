// The tree of a dump as an mdbook: the directories of kinds, the table of contents
// and the book's settings.

package mdtree

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// kindDir is the directory of one kind of entries.
type kindDir struct {
	dir   string
	title string
	kind  oxbow.Kind
	topic bool // read only: crabtalk's third kind, which oxbow does not have
}

// kindDirs are all directories of entries, in the order they are read.
var kindDirs = [...]kindDir{
	{"notes", "Notes", oxbow.Note, false},
	{"archives", "Archives", oxbow.Archive, false},
	{"topics", "Topics", oxbow.Note, true},
	{"journals", "Journals", oxbow.Journal, false},
	{"worlds", "Worlds", oxbow.World, false},
	{"histories", "Histories", oxbow.History, false},
	{"handoffs", "Handoffs", oxbow.Handoff, false},
}

// topicLabel marks entries that come from crabtalk's topics.
var topicLabel = oxbow.Label{Key: oxbow.LabelTag, Value: "topic"}

const (
	bookFile    = "book.toml"
	summaryFile = "SUMMARY.md"

	// bookSeed lets mdbook serve the tree as it is. The default preprocessors are switched
	// off because one of them replaces directives in a text, such as
	// {{#include /etc/hostname}}, by the content of local files.
	bookSeed = "[book]\ntitle = \"Memory\"\nsrc = \".\"\n\n[build]\nuse-default-preprocessors = false\n\n[output.html]\n"

	// oldBookSeed is what dumps wrote before. The next dump replaces it.
	oldBookSeed = "[book]\ntitle = \"Memory\"\nsrc = \".\"\n\n[output.html]\n"

	summaryHead = "# Summary\n\n"
)

// directives matches what mdbook's default preprocessors replace by local files.
var directives = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*#\s*(?:include|rustdoc_include|playground|playpen|template)\b`)
})

// noPreprocessors matches the setting that switches the default preprocessors off.
var noPreprocessors = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:build\.)?use-default-preprocessors\s*=\s*false\s*(?:#.*)?$`)
})

// linksPreprocessor matches a setting that names that preprocessor.
var linksPreprocessor = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*\[\s*preprocessor\s*\.\s*["']?links["']?\s*\]|^\s*preprocessor\s*\.\s*["']?links`)
})

// readsFiles reports whether mdbook, with these settings, replaces directives by files.
func readsFiles(settings string) bool {
	return !noPreprocessors().MatchString(settings) || linksPreprocessor().MatchString(settings)
}

// link is one line of the table of contents.
type link struct{ name, path string }

// appendSummary appends the table of contents. links holds, for each section,
// its entries sorted by name.
func appendSummary(b []byte, links map[string][]link) []byte {
	b = append(b, summaryHead...)
	for _, s := range kindDirs {
		if len(links[s.dir]) == 0 {
			continue
		}
		b = append(b, "# "+s.title+"\n\n"...)
		for _, l := range links[s.dir] {
			b = append(b, "- ["+linkText(l.name)+"]("+linkTarget(l.path)+")\n"...)
		}
		b = append(b, '\n')
	}
	return b
}

// isSummary reports whether a dump wrote this table of contents: it has no
// headings but the sections', and links into them only.
func isSummary(text string) bool {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(text, "\r\n", "\n"), summaryHead)
	if !ok {
		return false
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\n")
		if line == "" {
			continue
		}
		found := false
		for _, s := range kindDirs {
			found = found || line == "# "+s.title ||
				(strings.HasPrefix(line, "- [") && (strings.Contains(line, "]("+s.dir+"/") || strings.Contains(line, "](<"+s.dir+"/")))
		}
		if !found {
			return false
		}
	}
	return true
}

// linkText returns a name as the text of a Markdown link. Only what Markdown
// would read as markup is escaped, so that plain names look as they are.
func linkText(name string) string {
	var b strings.Builder
	before := ' '
	for i, r := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("\\[]*`<>&~!", r), r == '_' && !(isWord(before) && isWord(after)):
			b.WriteByte('\\')
			b.WriteRune(r)
		case isReserved(r) && r >= utf8.RuneSelf, unicode.IsControl(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// linkTarget returns a path as the target of a Markdown link: as it is, or in
// angle brackets where it holds what would end it. It is not percent-encoded:
// mdbook takes the target for a file name and decodes nothing but %20, which no
// stem contains.
func linkTarget(path string) string {
	plain := !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()<>\\&", r)
	})
	if plain {
		return path
	}
	return "<" + strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "&", `\&`).Replace(path) + ">"
}

// isEntryPath reports whether p is the path of a file of an entry: a directory
// of a kind and a name ending in ".md" that is not hidden.
func isEntryPath(p string) bool {
	dir, file, _ := strings.Cut(p, "/")
	return slices.ContainsFunc(kindDirs[:], func(s kindDir) bool { return s.dir == dir }) &&
		isEntryFile(file) && !strings.ContainsAny(file, "/\\\x00")
}

func isEntryFile(file string) bool {
	return strings.HasSuffix(file, ".md") && file[0] != '.'
}
