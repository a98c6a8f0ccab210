// Package markdown parses the Markdown of entries, which others may have written, and renders it for a terminal. The
// web pages of oxbow render the same tree as HTML.
package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxDepth is how deeply elements may be nested. A renderer does not show deeper elements.
const MaxDepth = 40

// These limits bound the time for parsing. The time for emphasis and links grows with the square of the delimiters in
// a paragraph. The time for quotes grows with the square of their depth. People do not write texts beyond these
// limits.
const (
	maxParagraphDelimiters = 2000 // maximum number of delimiters in a paragraph
	maxMarkerBytes         = 60   // maximum length in bytes of the quote and list markers that begin a line
)

// Parse parses CommonMark with tables and strikethrough, but without HTML. It returns nil if parsing the text would
// take too long. The caller must then show the text unchanged.
func Parse(source []byte) ast.Node {
	if isTooComplex(string(source)) {
		return nil
	}
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0)),
		parser.WithParagraphTransformers(
			util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
			util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	).Parse(text.NewReader(source))
}

// isTooComplex reports whether parsing the text would take too long.
func isTooComplex(s string) bool {
	cost, delimiters := 0, 0
	for line := range strings.Lines(s) {
		rest := strings.TrimLeft(line, " \t")
		rest = strings.TrimRight(rest, "\r\n")
		if rest == "" {
			cost, delimiters = cost+delimiters*delimiters, 0
			continue
		}
		if len(rest)-len(strings.TrimLeft(rest, "> \t-*+.)0123456789")) > maxMarkerBytes &&
			strings.Trim(rest, "-* ") != "" {
			return true
		}
		for i := range len(rest) {
			switch rest[i] {
			case '[', ']', '*', '_', '~':
				delimiters++
			}
		}
	}
	return cost+delimiters*delimiters > maxParagraphDelimiters*maxParagraphDelimiters
}

// LiteralText returns a text node's characters, after escapes and entities were replaced.
func LiteralText(n *ast.Text, source []byte) string {
	return string(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(n.Value(source)))))
}

// CodeText returns the characters of a code span as one line.
func CodeText(n *ast.CodeSpan, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Value(source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}
