// This file removes Markdown from snippets.

package page

import (
	"regexp"
	"strings"
)

var (
	frontMatter = regexp.MustCompile(`^--- .*? ---( |$)`)
	fence       = regexp.MustCompile("(^| )```[\\w+-]*( |$)")
	// marks that begin a line and are hardly ever text in the middle of one
	lineMark = regexp.MustCompile(`(^…?| )(?:#{2,6}|[-*+] \[[ xX]\])( |$)`)
	// marks that may be text in the middle of a line, such as a dash
	sentenceMark = regexp.MustCompile(`(^…?|[.:!?] )(?:#|>|[-*+])( |$)`)
	mdLink       = regexp.MustCompile(`!?\[([^\]\[]*)\]\([^()\s]*\)`)
	emphasis     = regexp.MustCompile(`(\*\*|__|~~)([^*_~]+)(\*\*|__|~~)|\*([^*\s][^*]*)\*`)
	tableRule    = regexp.MustCompile(`\|?( ?(?::?-{2,}:?|:-:?|-:) ?\|)+( ?(?::?-{2,}:?|:-:?|-:))?( |$)`)
)

// WithoutMarkup returns a snippet, which is a part of a Markdown text in a single line, as it is
// read: without front matter, and without the characters for headings, lists, links, tables,
// emphasis and code.
func WithoutMarkup(s string) string {
	s = frontMatter.ReplaceAllString(s, "")
	s = tableRule.ReplaceAllString(s, " ")
	s = fence.ReplaceAllString(s, " ")
	s = sentenceMark.ReplaceAllString(lineMark.ReplaceAllString(s, "$1"), "$1")
	s = mdLink.ReplaceAllString(s, "$1")
	s = emphasis.ReplaceAllString(s, "$2$4")
	s = strings.ReplaceAll(s, "`", "")
	if strings.Count(s, " | ") > 1 { // the cells of a table
		s = strings.Join(strings.Fields(s), " ")
		s = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(s, "| |", "|"), "| "), " | ", " · ")
	}
	return strings.Join(strings.Fields(s), " ")
}
