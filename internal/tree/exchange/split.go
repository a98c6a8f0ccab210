// Cutting of a Markdown text into pieces that can each be found and read alone,
// without losing a byte between them.

package exchange

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Sizes in bytes. A text up to wholeSize stays in one piece; a section above
// sectionSize, about what fits one memory, is cut
// again.
const (
	wholeSize   = 4 << 10
	sectionSize = 16 << 10
	maxHeadings = 10_000 // headings that are cut at; later ones stay inside a piece
)

// piece is a part of a text. The pieces of a text, in order, are the text.
type piece struct {
	start, end int      // byte offsets, half-open
	line       int      // line of start, from 1
	path       []string // headings that the piece stands under, outermost first
	part       int      // which part of its section, from 1; 0 when it is whole
}

// split cuts a text at its headings of level 1 and 2; sections that are still
// too long at headings of level 3, and then between paragraphs. Only a
// paragraph (or a code block) longer than an entry may be is cut within.
func split(text string) []piece {
	var heads []blockStart
	for m := range blockStarts(text) {
		if m.level > 0 && m.level <= 3 {
			heads = append(heads, m)
			if len(heads) == maxHeadings {
				break
			}
		}
	}
	whole := piece{start: 0, end: len(text), line: 1}
	if len(text) < wholeSize || (len(heads) == 0 && len(text) <= sectionSize) {
		return []piece{whole}
	}
	var ps []piece
	for _, sec := range sections(text, whole, heads, 1, 2) {
		if sec.end-sec.start <= sectionSize {
			ps = append(ps, sec)
			continue
		}
		for _, sub := range sections(text, sec, heads, 3, 3) {
			ps = append(ps, paragraphs(text, sub)...)
		}
	}
	return ps
}

// sections cuts a piece at its headings of level low to high. A section that is
// a heading and nothing else joins the one after it, and so does blank text
// before the first heading.
func sections(text string, p piece, heads []blockStart, low, high int) []piece {
	var ps []piece
	path := slices.Clone(p.path)
	levels := make([]int, len(path)) // 0: above any heading within p
	cur := p
	body := p.start // end of the headings that cur begins with
	for _, h := range heads {
		if h.off < p.start || h.off >= p.end || h.level > high {
			continue
		}
		blank := strings.TrimSpace(text[body:h.off]) == ""
		if h.level < low {
			if blank {
				body = h.end
			}
			continue
		}
		if !blank {
			cur.end = h.off
			ps = append(ps, cur)
			cur = piece{start: h.off, end: p.end, line: h.line}
		}
		for len(levels) > 0 && levels[len(levels)-1] >= h.level {
			levels, path = levels[:len(levels)-1], path[:len(path)-1]
		}
		levels, path = append(levels, h.level), append(path, h.text)
		cur.path = slices.Clone(path)
		body = h.end
	}
	return append(ps, cur)
}

// paragraphs cuts a piece that is too long into runs of whole paragraphs.
func paragraphs(text string, p piece) []piece {
	if p.end-p.start <= sectionSize {
		return []piece{p}
	}
	var ps []piece
	cur := p
	last, lastLine := p.start, p.line // the latest place where a paragraph begins
	cut := func(off, line int) {
		cur.end = off
		ps = append(ps, cur)
		cur = piece{start: off, end: p.end, line: line, path: p.path}
	}
	for m := range blockStarts(text[p.start:p.end]) {
		off, line := p.start+m.off, p.line+m.line-1
		if off-cur.start > sectionSize && last > cur.start {
			cut(last, lastLine)
		}
		last, lastLine = off, line
	}
	if p.end-cur.start > sectionSize && last > cur.start {
		cut(last, lastLine)
	}
	var all []piece
	for _, q := range append(ps, cur) {
		all = append(all, force(text, q)...)
	}
	if len(all) > 1 {
		for i := range all {
			all[i].part = i + 1
		}
	}
	return all
}

// force cuts a piece that no entry could hold at the end of a line, or, in a
// line that long, at a rune.
func force(text string, p piece) []piece {
	var ps []piece
	for p.end-p.start > oxbow.MaxContent {
		end := p.start + oxbow.MaxContent
		if i := strings.LastIndexByte(text[p.start:end], '\n'); i >= 0 {
			end = p.start + i + 1
		} else {
			for end > p.start+1 && text[end]&0xC0 == 0x80 { // a byte within a rune
				end--
			}
		}
		ps = append(ps, piece{start: p.start, end: end, line: p.line, path: p.path})
		p.line += strings.Count(text[p.start:end], "\n")
		p.start = end
	}
	return append(ps, p)
}
