// This file removes Markdown from snippets.

package page

import (
	"regexp"
	"strings"
)

var (
	frontMatter = regexp.MustCompile(`^--- .*? ---( |$)`)
	fence       = regexp.MustCompile("(^| )```[\\w+-]*( |$)")
	// lineMark matches marks that are removed anywhere, because they are hardly ever part of the text: headings from
	// level 2 on, and items of task lists.
	lineMark = regexp.MustCompile(`(^…?| )(?:#{2,6}|[-*+] \[[ xX]\])( |$)`)
	// sentenceMark matches marks that are removed only at the beginning of the snippet or after a sentence, because
	// elsewhere they may be part of the text, such as a dash.
	sentenceMark = regexp.MustCompile(`(^…?|[.:!?] )(?:#|>|[-*+])( |$)`)
	mdLink       = regexp.MustCompile(`!?\[([^\]\[]*)\]\([^()\s]*\)`)
	emphasis     = regexp.MustCompile(`(\*\*|__|~~)([^*_~]+)(\*\*|__|~~)|\*([^*\s][^*]*)\*`)
	tableRule    = regexp.MustCompile(`\|?( ?(?::?-{2,}:?|:-:?|-:) ?\|)+( ?(?::?-{2,}:?|:-:?|-:))?( |$)`)
)

// WithoutMarkup returns a snippet as plain text. A snippet is a part of a Markdown text, joined to a single line.
// WithoutMarkup removes front matter, and the characters for headings, lists, links, tables, emphasis and code.
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
