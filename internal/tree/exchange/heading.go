// This file converts a heading's Markdown to plain text, which can be the name of an entry.

package exchange

import (
	"cmp"
	"html"
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxHeadingBytes is the maximum length, in bytes, of a heading that is parsed as Markdown. The time for links and
// emphasis grows with the square of their number.
const maxHeadingBytes = 1000

// headingParser parses a line as a paragraph with links, emphasis, code and HTML.
var headingParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500)),
		parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)),
	)
})

// headingAttributesPattern matches attributes at the end of a heading, such as {#id .class}.
var headingAttributesPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`\s*\{\s*[#.:][^{}]*\}\s*$`) },
)

// wikiLinkPattern matches a link of Obsidian. Its groups are the target and the text that is shown instead.
var wikiLinkPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`!?\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]`)
})

// visibleHeadingText returns a heading's text as a reader sees it: link texts without addresses, and no images, HTML,
// marks of emphasis or attributes. If no text remains, it returns the alternative texts of the images. Without such
// texts, it returns the heading unchanged.
func visibleHeadingText(heading string) string {
	if len(heading) > maxHeadingBytes || !strings.ContainsAny(heading, "[<*_`~\\&{!") {
		return heading
	}
	source := headingAttributesPattern().ReplaceAllString(heading, "")
	source = wikiLinkPattern().ReplaceAllStringFunc(source, func(link string) string {
		m := wikiLinkPattern().FindStringSubmatch(link)
		if m[2] != "" {
			return m[2]
		}
		return m[1]
	})
	shown, images := visibleText(source)
	return cmp.Or(shown, images, heading)
}

// maxPreTitleDecorationBytes is the maximum length, in bytes, of a text before the title of a Markdown file that
// isDecoration examines. A longer text counts as real text, not as decoration such as badges.
const maxPreTitleDecorationBytes = 4000

// htmlCommentPattern matches a comment of HTML.
var htmlCommentPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->`) })

// isDecoration reports whether a reader sees no words in a text. Such a text is blank, or it consists only of comments,
// images such as badges, HTML tags, and definitions of link addresses. The result is false if a comment is not closed,
// or if the text without comments has more than maxPreTitleDecorationBytes.
func isDecoration(text string) bool {
	if strings.TrimSpace(text) == "" {
		return true
	}
	text = htmlCommentPattern().ReplaceAllString(text, "")
	if len(text) > maxPreTitleDecorationBytes || strings.Contains(text, "<!--") {
		return false
	}
	shown, _ := visibleText(text)
	return shown == ""
}

// visibleText returns the text that a reader of the Markdown sees, and the images' alternative texts.
func visibleText(source string) (shownText, imageAltTexts string) {
	r := headingReader{source: []byte(source)}
	r.addText(headingParser().Parse(text.NewReader(r.source)))
	return strings.Join(
			strings.Fields(r.text.String()),
			" ",
		), strings.Join(
			strings.Fields(r.imageAltTexts.String()),
			" ",
		)
}

// headingReader collects the text of a parsed heading.
type headingReader struct {
	source        []byte
	text          strings.Builder
	imageAltTexts strings.Builder // alternative texts of the images in the heading

	imageDepth int // number of Markdown images around the node of the syntax tree that is being read
}

// addText adds the text of a node and its children to r.text, without markup. Text in an image is added to
// r.imageAltTexts.
func (r *headingReader) addText(n ast.Node) {
	out := &r.text
	if r.imageDepth > 0 {
		out = &r.imageAltTexts
	}
	switch n := n.(type) {
	case *ast.Text:
		out.Write(unescapeMarkdown(n.Value(r.source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			out.WriteByte(' ')
		}
	case *ast.String:
		out.Write(n.Value)
	case *ast.CodeSpan:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				// Add inline code unchanged, because a backslash in it is not an escape in Markdown.
				out.Write(t.Value(r.source))
			}
		}
		return
	case *ast.AutoLink:
		out.Write(n.Label(r.source))
	case *ast.Image:
		r.imageAltTexts.WriteByte(' ')
		r.imageDepth++
		defer func() { r.imageDepth-- }()
	case *ast.RawHTML:
		r.addTagText(string(n.Segments.Value(r.source)))
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.addText(c)
	}
}

// htmlTagPattern matches an HTML tag that readers do not see as text, such as <br>. Other words in angle brackets,
// such as the type in Vec<T>, are text. imageTextPattern matches an <img> tag and captures the alternative text.
var (
	htmlTagPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(
			`(?is)^</?(?:img|a|abbr|b|big|br|center|code|del|details|div|em|font|h[1-6]|hr|i|ins|` +
				`kbd|mark|p|picture|q|s|small|source|span|strong|sub|summary|sup|svg|u|wbr)(?:[\s/].*)?>$`,
		)
	})
	imageTextPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)^<img\s.*?\balt\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	})
)

// addTagText handles a piece of text that looks like an HTML tag. If it is not an HTML tag, addTagText adds the piece
// to r.text unchanged. If it is an image tag, the image's alternative text is added to r.imageAltTexts. Other tags, and
// pieces that begin with "<!" (such as HTML comments), are ignored.
func (r *headingReader) addTagText(tag string) {
	switch {
	case strings.HasPrefix(tag, "<!"):
	case !htmlTagPattern().MatchString(tag):
		r.text.WriteString(tag)
	default:
		if m := imageTextPattern().FindStringSubmatch(tag); m != nil {
			r.imageAltTexts.WriteString(" " + html.UnescapeString(m[1]+m[2]))
		}
	}
}

// unescapeMarkdown replaces escapes such as \* and entities such as &amp; by the characters that they stand for.
func unescapeMarkdown(s []byte) []byte {
	return []byte(html.UnescapeString(string(util.UnescapePunctuations(s))))
}
