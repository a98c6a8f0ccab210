// This file searches MEMORY.md and HISTORY.md by paragraph.

package clawft

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// paragraphsContaining returns the paragraphs of a text that contain the query. The comment above an entry is searched
// together with the entry's paragraphs, but is not returned.
func paragraphsContaining(text, query string) []string {
	if query == "" {
		return nil
	}
	lower, folded := toLowerCase(query), analysis.FoldText(query)
	var found []string
	for _, p := range splitParagraphs(text) {
		// Compare in lower case and also with folded letters. Folding turns some letters into two letters, such as ß
		// into ss, while lower case keeps one.
		s := p.namesAndLabels + "\n" + p.text
		if strings.Contains(toLowerCase(s), lower) || strings.Contains(analysis.FoldText(s), folded) {
			if t := strings.TrimSpace(p.text); t != "" {
				found = append(found, t)
			}
		}
	}
	return found
}

// toLowerCase returns a text in lower case. Both lower-case forms of the Greek letter sigma become equal.
func toLowerCase(s string) string { return strings.ReplaceAll(strings.ToLower(s), "ς", "σ") }

// paragraph is a sequence of lines that are not blank.
type paragraph struct {
	text           string // text of the paragraph without oxbow's comments
	namesAndLabels string // the entry's name, aliases and labels, one per line, from oxbow's comment
}

// splitParagraphs splits a text at blank lines outside of code blocks. If an entry has oxbow's comment above it, all
// paragraphs of the entry get the name, aliases and labels in the comment.
func splitParagraphs(text string) []paragraph {
	var ps []paragraph
	for _, it := range splitItems(text) {
		name := ""
		if it.comment != nil {
			name = strings.Join(slices.Concat([]string{it.comment.Name}, it.comment.Aliases, it.comment.Labels), "\n")
		}
		fences := codeFenceFinder{text: it.content}
		start, stop := -1, 0
		flush := func() {
			if start >= 0 {
				ps = append(ps, paragraph{it.content[start:stop], name})
			}
			start = -1
		}
		for at := 0; at < len(it.content); {
			end, next := lineBounds(it.content, at)
			if after := fences.blockEnd(at); after > 0 {
				end = after
				_, next = lineBounds(it.content, end)
			}
			if isBlank(it.content[at:end]) {
				flush()
			} else {
				if start < 0 {
					start = at
				}
				stop = end
			}
			at = next
		}
		flush()
	}
	return ps
}
