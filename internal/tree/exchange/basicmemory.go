// This file reads the notes of basic-memory, which are Markdown files with observations such as
// "- [decision] Use tokens #auth" and relations such as "- implements [[API]]".

package exchange

import (
	"bufio"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
)

// permalinkFrontMatterKey is the key of a note's permalink, by which other notes and memory:// links refer to the note.
const permalinkFrontMatterKey = "permalink"

// readBasicMemoryNote reads a note of Basic Memory as a Markdown file in the format Obsidian, so that hashtags in the
// text become tags of the entry. The note's permalink becomes an alias of the first entry, so that links to the note
// can be followed. The permalink is not kept as a label.
func readBasicMemoryNote(r *bufio.Reader, sourceName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		opts := o.orDefault()
		opts.Format = Obsidian
		first := true
		for it, err := range ReadMarkdown(r, sourceName, &opts) {
			links := it.Entry.Values(permalinkFrontMatterKey)
			isLink := func(l oxbow.Label) bool { return l.Key == permalinkFrontMatterKey }
			it.Entry.Labels = slices.DeleteFunc(it.Entry.Labels, isLink)
			it.UnknownKeyLabels = slices.DeleteFunc(slices.Clone(it.UnknownKeyLabels), isLink)
			if first {
				it.Entry.Aliases = tidyAliases(it.Entry.Name, append(it.Entry.Aliases, links...))
			}
			first = false
			if !yield(it, err) {
				return
			}
		}
	}
}

// isBasicMemoryNote reports whether a file with these first bytes is a note that basic-memory has written. The front
// matter of such a note has the keys title, type and permalink, with one value each.
func isBasicMemoryNote(fileStart []byte) bool {
	if !mayHavePermalink(fileStart) {
		return false
	}
	keys, _, _ := parseYAMLFrontMatter(string(fileStart))
	has := func(key string) bool {
		return slices.ContainsFunc(
			keys,
			func(k frontMatterKey) bool { return k.normalizedKey == key && len(k.values) == 1 },
		)
	}
	return has("title") && has("type") && has(permalinkFrontMatterKey)
}

// mayHavePermalink is a fast check of the first bytes of a file. If it returns false, the front matter does not have
// the key permalink, so the file need not be parsed to find this out. It also returns true if the key may be spelled
// in an unusual way, such as with capital letters or escapes.
func mayHavePermalink(fileStart []byte) bool {
	front, _, ok := frontmatter.SplitFrontMatter(string(fileStart))
	if !ok {
		return false
	}
	for i := range len(front) {
		if front[i] >= utf8.RuneSelf || front[i] == '\\' {
			return true
		}
		isStart := front[i]|0x20 == 'p' && len(front)-i >= len(permalinkFrontMatterKey)
		if isStart && strings.EqualFold(front[i:i+len(permalinkFrontMatterKey)], permalinkFrontMatterKey) {
			return true
		}
	}
	return false
}
