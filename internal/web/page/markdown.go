// This file renders the Markdown of an entry as HTML. HTML in the Markdown is shown as text.

package page

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/markdown"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// A text of more than maxProseBytes bytes is cut, so that a page stays smaller than 60 kB.
const maxProseBytes = 40_000

// RenderMarkdown renders Markdown. If parsing the text would take too long, it is shown as plain text. isCut reports
// whether only the beginning of the text is shown, because source has more than maxProseBytes bytes.
func RenderMarkdown(source string) (n g.Node, isCut bool) {
	isCut = len(source) > maxProseBytes
	if isCut {
		source = cutAtLineEnd(source, maxProseBytes)
	}
	p := markdownRenderer{source: []byte(source)}
	doc := markdown.Parse(p.source)
	if doc == nil {
		return PlainText(source), isCut
	}
	return h.Div(h.Class("prose"), h.Dir("auto"), p.renderChildren(doc, 0)), isCut
}

// PlainText shows a text without rendering it.
func PlainText(s string) g.Node { return h.Pre(h.Class("text"), h.Dir("auto"), h.Text(VisibleText(s))) }

// cutAtLineEnd returns the first maxBytes bytes of s, or fewer. If there is a line end in the second half of these
// bytes, the result ends with the last such line end. Otherwise it may end inside a line, but not inside a character. s
// must have at least maxBytes bytes.
func cutAtLineEnd(s string, maxBytes int) string {
	s = strings.ToValidUTF8(s[:maxBytes], "")
	if i := strings.LastIndexByte(s, '\n'); i > maxBytes/2 {
		s = s[:i+1]
	}
	return s
}

// markdownRenderer converts a parsed text to HTML.
type markdownRenderer struct {
	source        []byte
	headingLevels []int // levels of the headings above the present position in the text
}

func (p *markdownRenderer) renderChildren(n ast.Node, depth int) g.Group {
	var out g.Group
	if depth > markdown.MaxDepth {
		return g.Group{h.Text("…")}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, p.renderNode(c, depth+1))
	}
	return out
}

func (p *markdownRenderer) renderNode(n ast.Node, depth int) g.Node {
	if n.Type() == ast.TypeInline {
		return p.renderInline(n, depth)
	}
	switch n := n.(type) {
	case *ast.Heading:
		return p.renderHeading(n.Level, p.renderChildren(n, depth))
	case *ast.TextBlock:
		return p.renderChildren(n, depth)
	case *ast.Blockquote:
		return h.BlockQuote(p.renderChildren(n, depth))
	case *ast.CodeBlock:
		return h.Pre(h.TabIndex("0"), h.Code(h.Text(VisibleText(string(n.Lines().Value(p.source))))))
	case *ast.FencedCodeBlock:
		code := string(n.Lines().Value(p.source))
		return h.Pre(h.TabIndex("0"), h.Code(highlightCode(code, string(n.Language(p.source)))))
	case *ast.List:
		if n.IsOrdered() {
			return h.Ol(g.If(n.Start > 1, h.Attr("start", fmt.Sprint(n.Start))), p.renderChildren(n, depth))
		}
		return h.Ul(p.renderChildren(n, depth))
	case *ast.ListItem:
		return h.Li(p.renderChildren(n, depth))
	case *ast.ThematicBreak:
		return h.Hr()
	case *xast.Table:
		return h.Div(h.Class("wide"), h.TabIndex("0"), h.Table(p.renderChildren(n, depth)))
	case *xast.TableHeader:
		return h.THead(h.Tr(p.renderChildren(n, depth)))
	case *xast.TableRow:
		return h.Tr(p.renderChildren(n, depth))
	case *xast.TableCell:
		align := g.If(n.Alignment != xast.AlignNone, h.Class("to-"+n.Alignment.String()))
		if _, ok := n.Parent().(*xast.TableHeader); ok {
			return h.Th(h.Scope("col"), align, p.renderChildren(n, depth))
		}
		return h.Td(align, p.renderChildren(n, depth))
	}
	return h.P(p.renderChildren(n, depth))
}

// renderHeading returns a heading with the content inner. The page itself uses the levels h1 and h2, so the headings of
// a text begin with h3. If a text skips a level, for example from level 1 to level 3, the result uses consecutive
// levels, h3 and h4.
func (p *markdownRenderer) renderHeading(level int, inner g.Group) g.Node {
	for len(p.headingLevels) > 0 && p.headingLevels[len(p.headingLevels)-1] >= level {
		p.headingLevels = p.headingLevels[:len(p.headingLevels)-1]
	}
	p.headingLevels = append(p.headingLevels, level)
	return h.El("h"+fmt.Sprint(min(6, 2+len(p.headingLevels))), inner)
}

func (p *markdownRenderer) renderInline(n ast.Node, depth int) g.Node {
	switch n := n.(type) {
	case *ast.Text:
		return p.renderText(n)
	case *ast.String:
		return h.Text(VisibleText(string(n.Value)))
	case *ast.CodeSpan:
		return h.Code(h.Text(VisibleText(markdown.CodeText(n, p.source))))
	case *ast.Emphasis:
		if n.Level == 2 {
			return h.Strong(p.renderChildren(n, depth))
		}
		return h.Em(p.renderChildren(n, depth))
	case *xast.Strikethrough:
		return h.El("s", p.renderChildren(n, depth))
	case *xast.TaskCheckBox:
		if n.IsChecked {
			return h.Span(h.Class("task"), h.Role("img"), h.Aria("label", "done:"), h.Text("☑ "))
		}
		return h.Span(h.Class("task"), h.Role("img"), h.Aria("label", "to do:"), h.Text("☐ "))
	case *ast.Link:
		return webLink(string(n.Destination), p.renderChildren(n, depth))
	case *ast.AutoLink:
		to := string(n.URL(p.source))
		if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(to), "mailto:") {
			to = "mailto:" + to
		}
		return webLink(to, h.Text(VisibleText(string(n.Label(p.source)))))
	case *ast.Image: // Do not load the image, because this would tell its server that somebody reads the page.
		return webLink(string(n.Destination), g.Group{h.Text("picture: "), p.renderChildren(n, depth)})
	}
	return p.renderChildren(n, depth)
}

func (p *markdownRenderer) renderText(n *ast.Text) g.Node {
	s := h.Text(VisibleText(markdown.LiteralText(n, p.source)))
	switch {
	case n.HardLineBreak():
		return g.Group{s, h.Br()}
	case n.SoftLineBreak():
		return g.Group{s, h.Text("\n")}
	}
	return s
}

// webLink returns a link to a web or mail address. For any other address, it returns only the text.
func webLink(to string, inner g.Node) g.Node {
	u, err := url.Parse(to)
	if err != nil || !isExternalURL(u) {
		return h.Span(h.Class("inert"), h.Title(VisibleText(to)), inner)
	}
	return h.A(h.Href(u.String()), h.Rel("noopener noreferrer nofollow"), h.Title(VisibleText(to)), inner)
}

// isExternalURL reports whether a URL is a mail address, or an http or https URL with a host.
func isExternalURL(u *url.URL) bool {
	switch u.Scheme {
	case "mailto":
		return true
	case "http", "https":
		return u.Host != ""
	}
	return false
}
