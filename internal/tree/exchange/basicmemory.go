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

// permalinkFrontKey is the key of a note's permalink, by which other notes and memory:// links refer to the note.
const permalinkFrontKey = "permalink"

// readBasicMemory reads a note like a Markdown file. #tags in the text become tags. The permalink becomes an alias, so
// that links to the note can be followed.
func readBasicMemory(r *bufio.Reader, ref string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		opts := o.orDefault()
		opts.Format = Obsidian
		first := true
		for it, err := range ReadMarkdown(r, ref, &opts) {
			links := it.Entry.Values(permalinkFrontKey)
			isLink := func(l oxbow.Label) bool { return l.Key == permalinkFrontKey }
			it.Entry.Labels = slices.DeleteFunc(it.Entry.Labels, isLink)
			it.Further = slices.DeleteFunc(slices.Clone(it.Further), isLink)
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

// isBasicMemory reports whether a file begins like a note that basic-memory has written.
func isBasicMemory(head []byte) bool {
	if !mayHavePermalink(head) {
		return false
	}
	keys, _, _ := parseYAMLFront(string(head))
	has := func(key string) bool {
		return slices.ContainsFunc(keys, func(k frontKey) bool { return k.key == key && len(k.values) == 1 })
	}
	return has("title") && has("type") && has(permalinkFrontKey)
}

// mayHavePermalink is a fast check of the first bytes of a file. If it returns false, the front matter does not have
// the key permalink, so the file need not be parsed to find this out. It also returns true if the key may be spelled
// in an unusual way, such as with capital letters or escapes.
func mayHavePermalink(head []byte) bool {
	front, _, ok := frontmatter.SplitFrontMatter(string(head))
	if !ok {
		return false
	}
	for i := range len(front) {
		if front[i] >= utf8.RuneSelf || front[i] == '\\' {
			return true
		}
		isStart := front[i]|0x20 == 'p' && len(front)-i >= len(permalinkFrontKey)
		if isStart && strings.EqualFold(front[i:i+len(permalinkFrontKey)], permalinkFrontKey) {
			return true
		}
	}
	return false
}
