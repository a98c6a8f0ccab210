// This file removes Markdown from snippets, which are single-line parts of texts.

package page

import (
	"regexp"
	"strings"
	"sync"
)

var (
	frontMatterPattern = lazyRegexp(`^--- .*? ---( |$)`)
	fencePattern       = lazyRegexp("(^| )```[\\w+-]*( |$)")
	// lineMarkPattern matches marks that are removed everywhere, because they are hardly ever part of the text: the
	// marks before headings from level 2 on and before items in task lists.
	lineMarkPattern = lazyRegexp(`(^…?| )(?:#{2,6}|[-*+] \[[ xX]\])( |$)`)
	// sentenceMarkPattern matches marks that are removed only at the beginning of the snippet or after a sentence.
	// Elsewhere they may be part of the text, as a dash is.
	sentenceMarkPattern = lazyRegexp(`(^…?|[.:!?] )(?:#|>|[-*+])( |$)`)
	linkPattern         = lazyRegexp(`!?\[([^\]\[]*)\]\([^()\s]*\)`)
	emphasisPattern     = lazyRegexp(`(\*\*|__|~~)([^*_~]+)(\*\*|__|~~)|\*([^*\s][^*]*)\*`)
	tableRulePattern    = lazyRegexp(`\|?( ?(?::?-{2,}:?|:-:?|-:) ?\|)+( ?(?::?-{2,}:?|:-:?|-:))?( |$)`)
)

// lazyRegexp returns a function that compiles expr at its first call. So the program need not compile unused
// expressions when it starts.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// StripMarkdown returns a snippet as plain text. A snippet is a part of a Markdown text in which spaces replace the
// line breaks. StripMarkdown removes front matter, and the marks of headings, lists, links, tables, emphasis and code.
func StripMarkdown(s string) string {
	s = frontMatterPattern().ReplaceAllString(s, "")
	s = tableRulePattern().ReplaceAllString(s, " ")
	s = fencePattern().ReplaceAllString(s, " ")
	s = sentenceMarkPattern().ReplaceAllString(lineMarkPattern().ReplaceAllString(s, "$1"), "$1")
	s = linkPattern().ReplaceAllString(s, "$1")
	s = emphasisPattern().ReplaceAllString(s, "$2$4")
	s = strings.ReplaceAll(s, "`", "")
	if strings.Count(s, " | ") > 1 { // The snippet contains cells of a table.
		s = strings.Join(strings.Fields(s), " ")
		s = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(s, "| |", "|"), "| "), " | ", " · ")
	}
	return strings.Join(strings.Fields(s), " ")
}
