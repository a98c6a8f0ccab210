// This file splits a Markdown text into pieces that can be found and read separately. The pieces contain each byte of
// the text.

package exchange

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// An imported text with fewer than maxUnsplitTextBytes bytes becomes one entry. A longer text is divided at its
// headings. If a section then has more than maxSectionBytes bytes, the section is divided again.
const (
	maxUnsplitTextBytes = 4 << 10
	maxSectionBytes     = 16 << 10
	maxSplitHeadings    = 10_000 // maximum number of headings at which a text is split; later headings are ignored
)

// textPiece is a part of a text. All pieces of a text in order, joined, are the text.
type textPiece struct {
	start, end  int      // position of the piece in the whole text, in bytes (end is excluded)
	line        int      // number of the piece's first line in the whole text, from 1
	headingPath []string // headings of the sections that contain this piece, outermost first
	// number of this piece among the pieces of its section, from 1 (0 if the section is not split)
	numberInSection int
}

// splitText splits a text at its headings of level 1 and 2. If a section is longer than maxSectionBytes, it is split at
// headings of level 3, and then between paragraphs. A paragraph or a code block is split only if it is too long for an
// entry. Two texts are not split: a text that is shorter than maxUnsplitTextBytes, and a text without headings that has
// at most maxSectionBytes.
func splitText(text string) []textPiece {
	var heads []splitPosition
	for m := range splitPositions(text) {
		if m.level > 0 && m.level <= 3 {
			heads = append(heads, m)
			if len(heads) == maxSplitHeadings {
				break
			}
		}
	}
	whole := textPiece{start: 0, end: len(text), line: 1}
	isSection := len(heads) == 0 && len(text) <= maxSectionBytes
	if isSection || len(text) < maxUnsplitTextBytes {
		return []textPiece{whole}
	}
	var ps []textPiece
	for _, sec := range splitPieceAtHeadings(text, whole, heads, 1, 2) {
		if sec.end-sec.start <= maxSectionBytes {
			ps = append(ps, sec)
			continue
		}
		for _, sub := range splitPieceAtHeadings(text, sec, heads, 3, 3) {
			ps = append(ps, splitParagraphs(text, sub)...)
		}
	}
	return ps
}

// splitPieceAtHeadings splits the piece p of a text at its headings whose level is at least minLevel and at most
// maxLevel. A section that consists only of a heading is joined with the next section. Blank text before the first
// heading is joined with the first section.
func splitPieceAtHeadings(text string, p textPiece, headings []splitPosition, minLevel, maxLevel int) []textPiece {
	var ps []textPiece
	path := slices.Clone(p.headingPath)
	// level of each heading in path, such as 2 for "##"; headings before p have level 0
	levels := make([]int, len(path))
	cur := p
	body := p.start // position after the headings at the beginning of the current section
	for _, h := range headings {
		isInPiece := p.start <= h.offset && h.offset < p.end
		if !isInPiece || h.level > maxLevel {
			continue
		}
		blank := strings.TrimSpace(text[body:h.offset]) == ""
		if h.level < minLevel {
			if blank {
				body = h.end
			}
			continue
		}
		if !blank {
			cur.end = h.offset
			ps = append(ps, cur)
			cur = textPiece{start: h.offset, end: p.end, line: h.line}
		}
		for len(levels) > 0 && levels[len(levels)-1] >= h.level {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		levels, path = append(levels, h.level), append(path, h.text)
		cur.headingPath = slices.Clone(path)
		body = h.end
	}
	return append(ps, cur)
}

// splitParagraphs splits a piece that is longer than maxSectionBytes into groups of whole paragraphs. A paragraph
// that is too long for an entry is split as well. If there are several pieces, they get numbers.
func splitParagraphs(text string, p textPiece) []textPiece {
	if p.end-p.start <= maxSectionBytes {
		return []textPiece{p}
	}
	var ps []textPiece
	cur := p
	// The variable last is the offset of the position that the loop has reached last. The text can be split at this
	// position. The variable lastLine is its line number.
	last, lastLine := p.start, p.line
	cut := func(off, line int) {
		cur.end = off
		ps = append(ps, cur)
		cur = textPiece{start: off, end: p.end, line: line, headingPath: p.headingPath}
	}
	for m := range splitPositions(text[p.start:p.end]) {
		off, line := p.start+m.offset, p.line+m.line-1
		if off-cur.start > maxSectionBytes && last > cur.start {
			cut(last, lastLine)
		}
		last, lastLine = off, line
	}
	if p.end-cur.start > maxSectionBytes && last > cur.start {
		cut(last, lastLine)
	}
	var all []textPiece
	for _, q := range append(ps, cur) {
		all = append(all, splitLongParagraph(text, q)...)
	}
	if len(all) > 1 {
		for i := range all {
			all[i].numberInSection = i + 1
		}
	}
	return all
}

// splitLongParagraph splits a piece that has more bytes than an entry may contain. It splits after a line break. If one
// line is too long, it splits within the line, but not within a character.
func splitLongParagraph(text string, p textPiece) []textPiece {
	var ps []textPiece
	for p.end-p.start > oxbow.MaxContent {
		end := p.start + oxbow.MaxContent
		if i := strings.LastIndexByte(text[p.start:end], '\n'); i >= 0 {
			end = p.start + i + 1
		} else {
			for end > p.start+1 && text[end]&0xC0 == 0x80 { // Do not split within a character.
				end--
			}
		}
		ps = append(ps, textPiece{start: p.start, end: end, line: p.line, headingPath: p.headingPath})
		p.line += strings.Count(text[p.start:end], "\n")
		p.start = end
	}
	return append(ps, p)
}
