// This file finds headings and paragraphs in Markdown. It implements only as much of CommonMark's
// block structure (https://spec.commonmark.org/0.31.2/) as is needed to avoid mistaking code or
// comments for headings.

package exchange

import (
	"iter"
	"strings"
)

// splitPosition is a position at which a text may be split: a heading, or the first line of a block, such as a
// paragraph, after a blank line.
type splitPosition struct {
	offset int    // byte offset of the line's beginning
	end    int    // byte offset after the heading (0 for other blocks)
	line   int    // line number, from 1
	level  int    // level of the heading, 1 to 6 (0 for other blocks)
	text   string // text of the heading without # and underline
}

// splitPositions yields the positions at which a text may be split, in order. If a heading has an underline (a line of
// = or - below its text) and follows a blank line, the heading is yielded twice: as a paragraph when its text is read,
// and as a heading when the underline is read.
func splitPositions(text string) iter.Seq[splitPosition] {
	return func(yield func(splitPosition) bool) {
		var s blockScanner
		for off, num := 0, 1; off < len(text); num++ {
			end := len(text)
			if i := strings.IndexByte(text[off:], '\n'); i >= 0 {
				end = off + i + 1
			}
			if !s.scanLine(text, off, end, num, yield) {
				return
			}
			off = end
		}
	}
}

// blockScanner finds where the blocks of a Markdown text begin, such as headings and paragraphs. It contains the state
// after the lines that were read so far.
type blockScanner struct {
	fence              string // marker that opened the current code block ("" outside of code blocks)
	isInComment        bool   // The scan is inside of a comment <!-- -->.
	isPreviousLineText bool   // The previous line was not blank.
	block              openBlockType
	paragraphOffset    int // byte offset of the current paragraph
	paragraphLine      int
}

// openBlockType is the type of the Markdown block that is still open, so that the next line of text may belong to it.
type openBlockType uint8

const (
	blockNone openBlockType = iota // no block is open, so that the next line of text begins a new block
	// A paragraph. If the next line consists of = or -, the paragraph becomes a heading.
	blockParagraph
	blockNotParagraph // the open block is a list, a quotation, a table or HTML
)

func (s *blockScanner) scanLine(text string, offset, end, lineNumber int, yield func(splitPosition) bool) bool {
	l := strings.TrimRight(text[offset:end], "\r\n")
	rest := strings.TrimLeft(l, " ")
	// A line that is indented by four spaces or a tab begins a code block or continues the previous line.
	indented := len(l)-len(rest) > 3 || strings.HasPrefix(rest, "\t")
	rest = strings.Trim(rest, " \t")
	afterText := s.isPreviousLineText
	s.isPreviousLineText = rest != ""
	begins := func() bool {
		return afterText || yield(splitPosition{offset: offset, end: end, line: lineNumber})
	}

	switch {
	case s.isInCodeOrComment(rest, indented):
		return true
	case rest == "":
		s.block = blockNone
		return true
	case indented:
		return begins()
	}
	if f := openingFence(rest); f != "" {
		s.fence, s.block = f, blockNone
		return begins()
	}
	if level, title, ok := parseATXHeading(rest); ok {
		s.block = blockNone
		return yield(splitPosition{offset: offset, end: end, line: lineNumber, level: level, text: title})
	}
	if level := headingLevelOfUnderline(rest); level > 0 && s.block == blockParagraph {
		s.block = blockNone
		title := strings.Join(strings.Fields(text[s.paragraphOffset:offset]), " ")
		return yield(
			splitPosition{offset: s.paragraphOffset, end: end, line: s.paragraphLine, level: level, text: title},
		)
	}
	s.continueBlock(rest, offset, lineNumber)
	return begins()
}

// isInCodeOrComment reports whether the line text is in a code block or a comment that began in an earlier line. If the
// line ends the code block or the comment, isInCodeOrComment also records this in s.
func (s *blockScanner) isInCodeOrComment(text string, isIndented bool) bool {
	switch {
	case s.fence != "":
		// A line that ends a code block consists of a marker that is at least as long as the marker at the block's
		// beginning.
		isClosing := strings.HasPrefix(text, s.fence) && strings.Trim(text, s.fence[:1]) == ""
		if isClosing && !isIndented {
			s.fence = ""
		}
		return true
	case s.isInComment:
		s.isInComment = !strings.Contains(text, "-->")
		return true
	}
	return false
}

// continueBlock records in s whether the line text begins, continues or ends a block, such as a paragraph or a comment.
// The line must be outside of code blocks and comments, and must not be a heading.
func (s *blockScanner) continueBlock(text string, offset, lineNumber int) {
	switch {
	case strings.HasPrefix(text, "<!--"):
		s.block = blockNone
		s.isInComment = !strings.Contains(text[len("<!--"):], "-->")
	case strings.Trim(text, "-*_ \t") == "":
		// The line is blank, a horizontal rule, or a list item without text, so it ends the previous block.
		s.block = blockNone
	case beginsNonParagraph(text):
		s.block = blockNotParagraph
	case s.block == blockNone:
		s.block = blockParagraph
		s.paragraphOffset = offset
		s.paragraphLine = lineNumber
	}
}

// openingFence returns the marker that opens a code block (at least three ` or ~), or "" for any other line.
func openingFence(s string) string {
	c := s[0]
	if c != '`' && c != '~' {
		return ""
	}
	n := len(s) - len(strings.TrimLeft(s, string(c)))
	// The line contains code such as ```x``` and does not open a block.
	isCode := c == '`' && strings.Contains(s[n:], "`")
	if n < 3 || isCode {
		return ""
	}
	return s[:n]
}

// parseATXHeading parses a heading such as "## Title ##". ok is false for any other line.
func parseATXHeading(s string) (level int, title string, ok bool) {
	rest := strings.TrimLeft(s, "#")
	level = len(s) - len(rest)
	isLevel := 1 <= level && level <= 6
	// Text directly after the # signs means that the line is not a heading, but begins with a tag such as #topic.
	isWord := rest != "" && rest[0] != ' ' && rest[0] != '\t'
	if !isLevel || isWord {
		return 0, "", false
	}
	rest = strings.Trim(rest, " \t")
	if t := strings.TrimRight(rest, "#"); t == "" || strings.ContainsRune(" \t", rune(t[len(t)-1])) {
		rest = strings.TrimRight(t, " \t")
	}
	return level, rest, true
}

// headingLevelOfUnderline returns the level of the heading that a line in a Markdown text underlines. The level is 1
// for a line of = signs, and 2 for a line of - signs. The result for all other lines is 0. The line must not be empty.
func headingLevelOfUnderline(s string) int {
	switch {
	case strings.Trim(s, "=") == "":
		return 1
	case strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

// beginsNonParagraph reports whether a line begins a block of Markdown that is not a paragraph: a list item, a
// quotation, a table or HTML.
func beginsNonParagraph(s string) bool {
	switch s[0] {
	case '>', '|', '<':
		return true
	case '-', '*', '+':
		return len(s) == 1 || s[1] == ' ' || s[1] == '\t'
	}
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return n > 0 && n < len(s) && (s[n] == '.' || s[n] == ')')
}
