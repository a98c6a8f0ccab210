// A dump writes the entries of a store to a tree of Markdown files. This file turns the tree into a book for the
// program mdbook. It defines the directories for entries, the table of contents, and the book's settings.

package mdtree

import (
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// entryKindDir is the directory for a kind of entry.
type entryKindDir struct {
	dir          string
	sectionTitle string
	kind         oxbow.Kind
	// The directory contains topics, a kind of entry that the program crabtalk has and oxbow lacks. Files in it are
	// read but never written.
	isTopic bool
}

// entryKindDirs lists all directories of entries, in the order in which they are read.
var entryKindDirs = [...]entryKindDir{
	{"notes", "Notes", oxbow.Note, false},
	{"archives", "Archives", oxbow.Archive, false},
	{"topics", "Topics", oxbow.Note, true},
	{"journals", "Journals", oxbow.Journal, false},
	{"worlds", "Worlds", oxbow.World, false},
	{"histories", "Histories", oxbow.History, false},
	{"handoffs", "Handoffs", oxbow.Handoff, false},
}

// topicLabel marks entries that were topics in crabtalk.
var topicLabel = oxbow.Label{Key: oxbow.LabelTag, Value: "topic"}

const (
	mdBookSettingsFile = "book.toml"
	summaryFile        = "SUMMARY.md"

	// newBookSettings contains the settings with which mdbook serves the tree. The default preprocessors
	// are disabled, because they include one that replaces directives in a text, such as {{#include
	// /etc/hostname}}, with the content of local files.
	newBookSettings = "[book]\ntitle = \"Memory\"\nsrc = \".\"\n\n[build]\nuse-default-preprocessors = " +
		"false\n\n[output.html]\n"

	// oldBookSettings contains the settings that earlier versions wrote. The next dump replaces them.
	oldBookSettings = "[book]\ntitle = \"Memory\"\nsrc = \".\"\n\n[output.html]\n"

	summaryHead = "# Summary\n\n"
)

// fileDirectivePattern matches directives that mdbook's default preprocessors replace by the content of local
// files.
var fileDirectivePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{\s*#\s*(?:include|rustdoc_include|playground|playpen|template)\b`)
})

// noPreprocessorsPattern matches the setting that disables the default preprocessors.
var noPreprocessorsPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:build\.)?use-default-preprocessors\s*=\s*false\s*(?:#.*)?$`)
})

// linksPreprocessorPattern matches settings that enable the preprocessor "links".
var linksPreprocessorPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)^\s*\[\s*preprocessor\s*\.\s*["']?links["']?\s*\]|^\s*preprocessor\s*\.\s*["']?links`,
	)
})

// mdBookIncludesFiles reports whether mdbook, with these settings, replaces directives in a page (such as
// {{#include}}) by the content of other files.
func mdBookIncludesFiles(bookSettings string) bool {
	return !noPreprocessorsPattern().MatchString(bookSettings) || linksPreprocessorPattern().MatchString(bookSettings)
}

// summaryLink is a line in the table of contents, which links to an entry's file.
type summaryLink struct{ entryName, path string }

// writeSummary writes the table of contents with a link for each entry. linksOfDir yields the links for the entries in
// one directory, sorted by name.
func writeSummary(w io.Writer, linksOfDir func(dir *entryKindDir) iter.Seq[summaryLink]) error {
	b := []byte(summaryHead)
	for i := range entryKindDirs {
		kind := &entryKindDirs[i]
		count := 0
		for l := range linksOfDir(kind) {
			if count == 0 {
				b = append(b, "# "+kind.sectionTitle+"\n\n"...)
			}
			count++
			b = append(b, "- ["+linkText(l.entryName)+"]("+linkTarget(l.path)+")\n"...)
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		if count > 0 {
			b = append(b, '\n')
		}
	}
	_, err := w.Write(b)
	return err
}

// isSummary reports whether the text is a table of contents that a dump wrote. Such a text begins with summaryHead.
// After it, the text contains only section headings, and links to files in the directories for the kinds of entries.
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
		for _, s := range entryKindDirs {
			found = found || line == "# "+s.sectionTitle ||
				(strings.HasPrefix(line, "- [") &&
					(strings.Contains(line, "]("+s.dir+"/") || strings.Contains(line, "](<"+s.dir+"/")))
		}
		if !found {
			return false
		}
	}
	return true
}

// linkText returns a name as the text of a Markdown link. It escapes only characters that have a meaning in Markdown,
// so that most names stay unchanged. It replaces control characters and invisible characters, such as marks for the
// direction of text, by U+FFFD.
func linkText(name string) string {
	var b strings.Builder
	before := ' '
	for i, r := range name {
		after, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("\\[]*`<>&~!", r), r == '_' && !(isWordRune(before) && isWordRune(after)):
			b.WriteByte('\\')
			b.WriteRune(r)
		case isReservedRune(r) && r >= utf8.RuneSelf, unicode.IsControl(r):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// linkTargetEscaper escapes the characters that have a meaning between angle brackets.
var linkTargetEscaper = strings.NewReplacer(`\`, `\\`, "<", `\<`, ">", `\>`, "&", `\&`)

// linkTarget returns a path as the target of a Markdown link. A path with characters that would end
// the target is put in angle brackets. Paths are not percent-encoded, because mdbook uses the
// target as a file name and decodes only %20, which never occurs in a stem.
func linkTarget(path string) string {
	plain := !strings.ContainsFunc(path, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()<>\\&", r)
	})
	if plain {
		return path
	}
	return "<" + linkTargetEscaper.Replace(path) + ">"
}

// isEntryPath reports whether p could be the path of an entry's file. Such a path consists of the directory for an
// entry kind, and a file name that ends in ".md" and is not hidden.
func isEntryPath(p string) bool {
	dir, file, _ := strings.Cut(p, "/")
	return slices.ContainsFunc(entryKindDirs[:], func(s entryKindDir) bool { return s.dir == dir }) &&
		isEntryFile(file) && !strings.ContainsAny(file, "/\\\x00")
}

func isEntryFile(file string) bool {
	return strings.HasSuffix(file, ".md") && file[0] != '.'
}
