// This file removes Markdown from snippets.

package page

import (
	"regexp"
	"strings"
	"sync"
)

var (
	frontMatterPattern = lazyRegexp(`^--- .*? ---( |$)`)
	fencePattern       = lazyRegexp("(^| )```[\\w+-]*( |$)")
	// lineMarkPattern matches marks that are removed anywhere, because they are hardly ever part of the text:
	// headings from level 2 on, and items of task lists.
	lineMarkPattern = lazyRegexp(`(^…?| )(?:#{2,6}|[-*+] \[[ xX]\])( |$)`)
	// sentenceMarkPattern matches marks that are removed only at the beginning of the snippet or after a sentence,
	// because elsewhere they may be part of the text, such as a dash.
	sentenceMarkPattern = lazyRegexp(`(^…?|[.:!?] )(?:#|>|[-*+])( |$)`)
	linkPattern         = lazyRegexp(`!?\[([^\]\[]*)\]\([^()\s]*\)`)
	emphasisPattern     = lazyRegexp(`(\*\*|__|~~)([^*_~]+)(\*\*|__|~~)|\*([^*\s][^*]*)\*`)
	tableRulePattern    = lazyRegexp(`\|?( ?(?::?-{2,}:?|:-:?|-:) ?\|)+( ?(?::?-{2,}:?|:-:?|-:))?( |$)`)
)

// lazyRegexp returns a function that compiles expr when the function is first called. Otherwise the start of the
// program would wait for expressions that the program may never use.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// StripMarkdown returns a snippet as plain text. A snippet is a part of a Markdown text, joined to a single line.
// StripMarkdown removes front matter, and the characters for headings, lists, links, tables, emphasis and code.
func StripMarkdown(s string) string {
	s = frontMatterPattern().ReplaceAllString(s, "")
	s = tableRulePattern().ReplaceAllString(s, " ")
	s = fencePattern().ReplaceAllString(s, " ")
	s = sentenceMarkPattern().ReplaceAllString(lineMarkPattern().ReplaceAllString(s, "$1"), "$1")
	s = linkPattern().ReplaceAllString(s, "$1")
	s = emphasisPattern().ReplaceAllString(s, "$2$4")
	s = strings.ReplaceAll(s, "`", "")
	if strings.Count(s, " | ") > 1 { // the cells of a table
		s = strings.Join(strings.Fields(s), " ")
		s = strings.ReplaceAll(strings.Trim(strings.ReplaceAll(s, "| |", "|"), "| "), " | ", " · ")
	}
	return strings.Join(strings.Fields(s), " ")
}
