// This file renders Markdown for a terminal.

package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// A TerminalStyle describes the terminal for which Markdown is rendered.
type TerminalStyle struct {
	Width      int  // number of columns, at least 1
	WithColour bool // use the colours of package termtext (without colours, marks such as ** are kept)
}

// minNestedWidth is the smallest width of a text in quotes and lists. If the width would be smaller, the text is not
// indented any further.
const minNestedWidth = 20

// Render returns the rendered text as lines. A line may be wider than the width if it is code or a single long word.
// Line breaks inside paragraphs are kept, because many notes are lists without markers. Characters that could harm a
// terminal are replaced (see [termtext.EscapeHarmfulRunes]).
func (t TerminalStyle) Render(source string) []string {
	r := renderer{TerminalStyle: t, source: []byte(source)}
	doc := Parse(r.source)
	if doc == nil {
		return termtext.WrapAtWords(termtext.EscapeHarmfulRunes(strings.TrimRight(source, "\n")), t.Width)
	}
	return r.renderBlocks(doc, t.Width, 0)
}

// renderer renders one text.
type renderer struct {
	TerminalStyle
	source []byte
}

// renderBlocks returns the lines of the blocks in n, with an empty line between two blocks. List items that were
// written without empty lines are not separated by an empty line.
func (r *renderer) renderBlocks(n ast.Node, width, depth int) (lines []string) {
	if depth > MaxDepth {
		return []string{"…"}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		block := r.renderBlock(c, width, depth+1)
		if len(block) == 0 {
			continue
		}
		if len(lines) > 0 && !hasNoBlankLineBefore(c) {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

// hasNoBlankLineBefore reports whether a block follows the block before it without an empty line.
func hasNoBlankLineBefore(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ListItem:
		return n.Parent().(*ast.List).IsTight
	case *ast.List:
		item, ok := n.Parent().(*ast.ListItem)
		return ok && item.Parent().(*ast.List).IsTight
	case *xast.TableHeader, *xast.TableRow:
		return true
	}
	return false
}

// renderBlock returns the lines of a block.
func (r *renderer) renderBlock(n ast.Node, width, depth int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		mark := ""
		if !r.WithColour {
			mark = strings.Repeat("#", n.Level) + " "
		}
		return termtext.WrapAtWords(mark+r.renderInlines(n, termtext.Bold, depth), width)
	case *ast.Blockquote:
		return prefixLines(r.renderBlocks(n, r.widthAfterIndent(width, 2), depth), r.paintText(termtext.Dim, "│")+" ")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		code := termtext.EscapeHarmfulRunes(strings.TrimRight(string(n.Lines().Value(r.source)), "\n"))
		return prefixLines(strings.Split(strings.ReplaceAll(code, "\t", "    "), "\n"), "    ")
	case *ast.List:
		return r.renderList(n, width, depth)
	case *ast.ThematicBreak:
		return []string{r.paintText(termtext.Dim, strings.Repeat("─", min(width, 40)))}
	case *xast.Table:
		return r.renderTable(n, width, depth)
	}
	return termtext.WrapAtWords(r.renderInlines(n, "", depth), width)
}

// widthAfterIndent returns the width that remains for a text after it was indented by some columns. The result is at
// least minNestedWidth. If the whole output is narrower than minNestedWidth, the result is at least r.Width.
func (r *renderer) widthAfterIndent(width, indentColumns int) int {
	return max(width-indentColumns, min(minNestedWidth, r.Width))
}

// prefixLines puts a prefix before each line, and removes the spaces at the end of the result. Therefore an empty line
// gets the prefix without the spaces at its end. prefixLines changes the slice lines.
func prefixLines(lines []string, prefix string) []string {
	for i, l := range lines {
		lines[i] = strings.TrimRight(prefix+l, " ")
	}
	return lines
}

func (r *renderer) renderList(n *ast.List, width, depth int) (lines []string) {
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := "- "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		item := r.renderBlocks(c, r.widthAfterIndent(width, len(mark)), depth)
		if len(item) == 0 {
			item = []string{""}
		}
		first := strings.TrimRight(mark+item[0], " ")
		if len(lines) > 0 && !n.IsTight {
			lines = append(lines, "")
		}
		lines = append(append(lines, first), prefixLines(item[1:], strings.Repeat(" ", len(mark)))...)
	}
	return lines
}

// renderTable returns the lines of a table. If the columns do not fit into the width, each cell gets a line of its
// own.
func (r *renderer) renderTable(n ast.Node, width, depth int) (lines []string) {
	var rows [][]string
	var widths []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := ""
		if _, isHeader := row.(*xast.TableHeader); isHeader {
			style = termtext.Bold
		}
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cell := r.renderInlines(c, style, depth)
			if len(cells) == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], termtext.CountColumns(cell))
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	for _, cells := range rows {
		if total > width {
			for i, c := range cells {
				lines = append(
					lines,
					prefixLines(
						termtext.WrapAtWords(c, r.widthAfterIndent(width, 2)),
						strings.Repeat(" ", 2*min(i, 1)),
					)...)
			}
			continue
		}
		var b strings.Builder
		for i, c := range cells {
			b.WriteString(termtext.PadToColumns(c, widths[i]+2))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// renderInlines returns the text of the inline elements in n, painted with a style.
func (r *renderer) renderInlines(n ast.Node, style string, depth int) string {
	if depth > MaxDepth {
		return "…"
	}
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(r.renderInline(c, style, depth+1))
	}
	return b.String()
}

func (r *renderer) renderInline(n ast.Node, style string, depth int) string {
	switch n := n.(type) {
	case *ast.Text:
		s := r.renderText(style, LiteralText(n, r.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return r.renderText(style, string(n.Value))
	case *ast.CodeSpan:
		return r.renderText(style, "`"+CodeText(n, r.source)+"`")
	case *ast.Emphasis:
		if r.WithColour {
			return r.renderInlines(n, termtext.Bold, depth)
		}
		mark := strings.Repeat("*", n.Level)
		return mark + r.renderInlines(n, style, depth) + mark
	case *xast.Strikethrough:
		return "~~" + r.renderInlines(n, style, depth) + "~~"
	case *xast.TaskCheckBox:
		if n.IsChecked {
			return "[x] "
		}
		return "[ ] "
	case *ast.Link:
		return r.renderLink(r.renderInlines(n, style, depth), string(n.Destination))
	case *ast.Image:
		return r.renderLink("picture: "+r.renderInlines(n, style, depth), string(n.Destination))
	case *ast.AutoLink:
		return r.renderText(style, string(n.Label(r.source)))
	}
	return r.renderInlines(n, style, depth)
}

// renderLink returns the text of a link followed by its destination.
func (r *renderer) renderLink(label, destination string) string {
	destination = termtext.EscapeHarmfulRunes(destination)
	if label == "" || label == destination {
		return destination
	}
	return label + " " + r.paintText(termtext.Dim, "("+destination+")")
}

// renderText paints a text that others wrote. Each word is painted separately, so that the style does not get lost
// where a line is wrapped.
func (r *renderer) renderText(style, s string) string {
	s = termtext.EscapeHarmfulRunes(s)
	if style == "" || !r.WithColour {
		return s
	}
	words := strings.Split(s, " ")
	for i, w := range words {
		words[i] = r.paintText(style, w)
	}
	return strings.Join(words, " ")
}

func (r *renderer) paintText(styleCode, s string) string {
	if !r.WithColour || s == "" {
		return s
	}
	return styleCode + s + termtext.ResetStyle
}
