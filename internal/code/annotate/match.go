// This file finds a block by its text and the lines around it.

package annotate

import (
	"cmp"
	"slices"
)

// Placing says how an annotation was found.
type Placing string

const (
	Exact   Placing = "exact"   // same text, same position
	Moved   Placing = "moved"   // same text at a different position, found by the text and its context
	Tracked Placing = "tracked" // same text, found by comparison with the old file or through a rename
	Edited  Placing = "edited"  // similar text, to be checked before use
	Lost    Placing = "lost"    // the lines do not exist any more
)

// match is the position of a block.
type match struct {
	span       Span
	placing    Placing
	confidence float64 // 0 to 1
	how        string
}

var notFound = match{placing: Lost}

// Thresholds for matching (see docs/annotations.md).
const (
	telling      = 40 // number of letters that a line needs to be found by its text alone
	tellingBlock = 30 // the same for two or more lines

	nearContext = .34 // share of the context that must match otherwise
	similar     = .5  // minimum similarity of edited text
	similarLine = .6  // the same for a single line, which has only few words
)

// isDistinctive reports whether the lines are distinctive enough to be found without context.
func isDistinctive(lines []string) bool {
	n := countLetters(lines...)
	return n >= telling || (len(lines) > 1 && n >= tellingBlock)
}

// candidate is a position where the text of a block occurs unchanged.
type candidate struct {
	first   int     // index of its first line
	context float64 // see [lineIndex.contextScore]
	far     int     // distance in lines from the block's old position
}

// byText finds the block if its text occurs unchanged. It ignores lines i with taken[i] set. taken
// may be nil.
func (p *lineIndex) byText(r *Record, taken []bool) match {
	best := p.candidates(r, taken)
	if len(best) == 0 {
		return notFound
	}
	c := best[0]
	if c.context < nearContext && (len(best) > 1 || !isDistinctive(r.Block)) {
		return notFound
	}
	confidence := .8 + .18*c.context
	how := "by its text and " + shareInWords(c.context) + " of the lines around it"
	if len(best) > 1 && best[1].context == c.context {
		confidence = .6
		how += "; other places are as good, and this one is the nearest"
	} else if len(best) > 1 {
		confidence = min(confidence, .7+.3*(c.context-best[1].context))
	}
	m := match{Span{c.first + 1, c.first + len(r.Block) + r.Cut}, Moved, confidence, how}
	if m.span == r.Span {
		m.placing = Exact
	}
	return m
}

// byUniqueText is like byText, but finds the block only if its text is distinctive and occurs
// exactly once.
func (p *lineIndex) byUniqueText(r *Record) match {
	if len(p.candidates(r, nil)) != 1 || !isDistinctive(r.Block) {
		return notFound
	}
	return p.byText(r, nil)
}

// candidates returns the positions where the text of the block occurs, the best first.
func (p *lineIndex) candidates(r *Record, taken []bool) []candidate {
	n := len(r.Block) + r.Cut
	if n == 0 || n > len(p.lines) {
		return nil
	}
	head := r.Block
	var tail []string
	if r.Cut > 0 {
		head, tail = r.Block[:len(r.Block)/2], r.Block[len(r.Block)/2:]
	}
	// Search for the rarest line of the block first.
	rare, least := 0, -1
	for i, l := range head {
		id, ok := p.in.lines[l]
		if !ok {
			return nil
		}
		if c := len(p.postings.of(id)); least < 0 || c < least {
			rare, least = i, c
		}
	}
	var out []candidate
	for _, at := range p.postings.of(p.in.lines[head[rare]]) {
		first := int(at) - rare
		if first < 0 || first+n > len(p.lines) || !slices.Equal(p.lines[first:first+len(head)], head) ||
			!slices.Equal(p.lines[first+n-len(tail):first+n], tail) ||
			(r.Cut > 0 && hashLines(p.lines[first:first+n]) != r.Hash) ||
			(taken != nil && slices.Contains(taken[first:first+n], true)) {
			continue
		}
		out = append(out, candidate{first, p.contextScore(r, first, n), apart(first, r.Span.First-1)})
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.context, a.context), a.far-b.far) })
	return out
}

func apart(a, b int) int { return max(a-b, b-a) }

func shareInWords(f float64) string {
	switch {
	case f >= .99:
		return "all"
	case f >= .5:
		return "most"
	case f > 0:
		return "some"
	}
	return "none"
}
