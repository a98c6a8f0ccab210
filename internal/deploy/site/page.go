// This file parses one page and renders it as HTML.

package main

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// sitePage is a Markdown file of the site, parsed.
type sitePage struct {
	path    string
	title   string
	text    []byte
	root    ast.Node
	links   []string
	anchors map[string]bool
}

var markdownParser = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// headingIDs generates the same anchors for headings as GitHub, so that links work on GitHub and on
// the site.
type headingIDs struct{ usedIDs map[string]bool }

// Generate returns an anchor for a heading.
func (ids *headingIDs) Generate(heading []byte, _ ast.NodeKind) []byte {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(heading)))
	name := anchor
	for i := 1; ids.usedIDs[name]; i++ {
		name = fmt.Sprintf("%s-%d", anchor, i)
	}
	ids.Put([]byte(name))
	return []byte(name)
}

// Put marks an anchor as used.
func (ids *headingIDs) Put(anchor []byte) { ids.usedIDs[string(anchor)] = true }

// parsePage parses a Markdown file and collects its links and anchors.
func parsePage(file string, content []byte) *sitePage {
	ids := &headingIDs{usedIDs: map[string]bool{}}
	context := parser.NewContext(parser.WithIDs(ids))
	p := &sitePage{path: file, title: path.Base(file), text: content, anchors: ids.usedIDs}
	p.root = markdownParser.Parser().Parse(text.NewReader(content), parser.WithContext(context))
	hasTitle := false
	_ = ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				p.links = append(p.links, string(n.Destination))
			}
		case *ast.Image:
			if entering {
				p.links = append(p.links, string(n.Destination))
			}
		case *ast.Heading:
			isTitle := n.Level == 1 && !hasTitle
			if entering && isTitle {
				p.title, hasTitle = plainText(n, content), true
			}
		}
		return ast.WalkContinue, nil
	})
	return p
}

// renderPage returns the page as HTML, with links that lead to pages of the site.
func (p *sitePage) renderPage(s *website) ([]byte, error) {
	err := ast.Walk(p.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		var address string
		switch n := n.(type) {
		case *ast.Link:
			address, err = s.resolveLink(p.path, string(n.Destination))
			n.Destination = []byte(address)
		case *ast.Image:
			address, err = s.resolveLink(p.path, string(n.Destination))
			n.Destination = []byte(address)
		}
		return ast.WalkContinue, err
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = markdownParser.Renderer().Render(&b, p.text, p.root)
	return b.Bytes(), err
}

// searchItems returns an item for each section of the page. The search on the website finds these items.
func (p *sitePage) searchItems() []searchableSection {
	s := website{pages: map[string]*sitePage{p.path: p}}
	address, _ := s.pageAddress(p.path)
	items := []searchableSection{{Page: p.title, Heading: p.title, SectionURL: address}}
	for n := p.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, isHeading := n.(*ast.Heading); isHeading && h.Level > 1 {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			items = append(items, searchableSection{
				Page: p.title, Heading: plainText(h, p.text), SectionURL: address + "#" + string(anchor),
			})
			continue
		}
		if _, isHTML := n.(*ast.HTMLBlock); isHTML {
			continue
		}
		last := &items[len(items)-1]
		last.Text = strings.TrimSpace(last.Text + " " + plainText(n, p.text))
	}
	return items
}

// plainText returns the text of a node without Markdown.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteString(" ")
			}
			return ast.WalkContinue, nil
		}
		if t, isText := n.(*ast.Text); isText {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteString(" ")
			}
		}
		if isCodeBlock(n) {
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// isCodeBlock reports whether a node is an indented or fenced code block.
func isCodeBlock(n ast.Node) bool {
	return n.Kind() == ast.KindFencedCodeBlock || n.Kind() == ast.KindCodeBlock
}
