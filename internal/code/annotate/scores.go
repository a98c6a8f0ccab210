// This file implements the second step of finding a block: it measures how well a candidate fits. Scores
// are shares from 0 to 1, of the context around the block, and of the block itself.

package annotate

import (
	"cmp"
	"slices"
	"strings"
)

// Thresholds for matching (see docs/annotations.md).
const (
	distinctiveLetters      = 40 // number of letters that a line needs to be found by its text alone
	distinctiveBlockLetters = 30 // number of letters that two or more lines need to be found by their text alone

	nearContext = .34 // share of the context that must match for lines with fewer letters
	similar     = .5  // minimum similarity of edited text
	similarLine = .6  // minimum similarity of a single edited line, which has only few words
)

// Minimum shares of the block's letters that must be unchanged. Lines with few letters, such as
// braces, may occur in the same order by accident.
const (
	leastKept = .3
	halfKept  = .5 // the share if the words are not similar, unless half of the lines are unchanged
)

// scoreContext measures the context of the candidates and sorts them, the best first.
func (s *blockSearch) scoreContext(cs []candidate) []candidate {
	for i := range cs {
		cs[i].context = s.contextScore(cs[i].first, cs[i].end)
	}
	slices.SortFunc(cs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.context, a.context), a.distance-b.distance)
	})
	return cs
}

// scoreWords measures how similar the words of the candidates and of the block are, and sorts the candidates, the
// most similar first. Of equally similar candidates, the last one, which has the most lines, comes first.
func (s *blockSearch) scoreWords(cs []candidate) []candidate {
	if len(cs) == 0 || cs[0].kept.whole {
		return cs
	}
	bag := s.text.newWordBag(s.blockLines())
	for i := range cs {
		cs[i].similarity = bag.similarity(cs[i].first, cs[i].end)
	}
	slices.Reverse(cs)
	slices.SortStableFunc(cs, func(a, b candidate) int { return cmp.Compare(b.similarity, a.similarity) })
	return cs
}

// scoreMostSimilar returns the candidates whose words are most similar to those of the block, in their order. It
// returns none if their similarity is below the threshold. If there are several, it counts their lines that are
// in the order of the block.
func (s *blockSearch) scoreMostSimilar(cs []candidate) []candidate {
	block := s.blockLines()
	most := similar
	if len(block) == 1 {
		most = similarLine
	}
	bag := s.text.newWordBag(block)
	best := cs[:0]
	for _, c := range cs {
		c.similarity = bag.similarity(c.first, c.end)
		if c.similarity > most {
			most, best = c.similarity, best[:0]
		}
		if c.similarity == most {
			best = append(best, c)
		}
	}
	if len(best) > 1 {
		for i, c := range best {
			best[i].inOrder = inOrder(block, s.text.lines[c.first:c.end])
		}
	}
	return best
}

// isDistinctive reports whether the lines are distinctive enough to be found without context.
func isDistinctive(lines []string) bool {
	n := countLetters(lines...)
	return n >= distinctiveLetters || (len(lines) > 1 && n >= distinctiveBlockLetters)
}

// Limits of [oldVersion.isDistinctiveBlock].
const (
	// number of letters that a block, with the unchanged lines next to it, needs to be found with
	// full confidence
	firmLetters = 30
	doubtful    = .6 // confidence in a block with fewer letters
)

// isDistinctiveBlock reports whether an unchanged block is distinctive, alone or together with the unchanged
// lines next to it.
func (f *oldVersion) isDistinctiveBlock(was Span) bool {
	from, to := was.First-1, was.Last
	n := countLetters(f.lines[from:to]...)
	along := func(i, step int) {
		for k := 0; k < Context && i >= 0 && i < len(f.to) && i-step >= 0 && f.to[i] >= 0 &&
			f.to[i] == f.to[i-step]+step; k++ {
			n += countLetters(f.lines[i])
			i += step
		}
	}
	along(from-1, -1)
	along(to, 1)
	return n >= firmLetters || len(f.lines) < 2*Context
}

// scopeWeight is the weight of the enclosing lines in contextScore. The two lines next to the block
// weigh 1 each.
const scopeWeight = 1.5

// contextScore returns how much of the block's context (0 to 1) surrounds the lines from index first to end-1.
// Nearer lines have more weight. The beginning and the end of the file count as lines.
func (s *blockSearch) contextScore(first, end int) float64 {
	r, p := s.record, s.text
	got, all := 0.0, 0.0
	line := func(w float64, want []string, k int, at int) {
		w /= float64(k + 1)
		all += w
		isInText := at >= 0 && at < len(p.lines)
		isSameLine := isInText && k < len(want) && p.lines[at] == want[k]
		isSameEdge := !isInText && k >= len(want) // both the file then and the file now begin or end here
		if isSameLine || isSameEdge {
			got += w
		}
	}
	before := slices.Clone(r.Before)
	slices.Reverse(before)
	for k := range Context {
		line(1, before, k, first-1-k)
		line(1, r.After, k, end+k)
	}
	if len(r.Scope) > 0 {
		same, of := s.sharedScope(first)
		got, all = got+scopeWeight*float64(same)/float64(of), all+scopeWeight
	}
	return got / all
}

// sharedContext returns the share of the block's context that also surrounds the span. The
// context consists of the lines before and after, in any order, and the enclosing lines. White
// space is ignored.
func (s *blockSearch) sharedContext(now Span) float64 {
	r, p := s.record, s.text
	got, all := 0, 0
	side := func(want []string, from, to int) {
		have := p.bareSet(from, to)
		for _, l := range want {
			if b := bareLine(l); b != "" {
				all++
				if have[b] {
					got++
				}
			}
		}
	}
	side(r.Before, now.First-1-Context, now.First-1)
	side(r.After, now.Last, now.Last+Context)
	same, of := s.sharedScope(now.First - 1)
	got, all = got+same, all+of
	if all == 0 {
		return 0
	}
	return float64(got) / float64(all)
}

// sharedScope returns the number of the block's enclosing lines that also enclose the line with
// index first, and the number of all its enclosing lines. Indentation is ignored.
func (s *blockSearch) sharedScope(first int) (same, of int) {
	r, p := s.record, s.text
	if len(r.Scope) == 0 || first >= len(p.lines) {
		return 0, len(r.Scope)
	}
	at := p.enclosingLine(first)
	for n := 0; at >= 0 && n < maxScope && first-at <= maxScopeFar; n++ {
		l := strings.TrimSpace(p.lines[at])
		for _, want := range r.Scope {
			if strings.TrimSpace(want) == l {
				same++
				break
			}
		}
		at = p.enclosingLine(at)
	}
	return min(same, len(r.Scope)), len(r.Scope)
}

// sharedLetters returns a share of the block's letters: the letters in those lines that also occur
// in the span. White space is ignored.
func (s *blockSearch) sharedLetters(now Span) float64 {
	have := s.text.bareSet(now.First-1, now.Last)
	got, all := 0, 0
	for _, l := range s.record.Block {
		n := countLetters(l) + 1 // add 1, so that lines without letters count as well
		all += n
		if have[bareLine(l)] {
			got += n
		}
	}
	return float64(got) / float64(all)
}

// inOrder returns the number of indexes at which a and b have the same line.
func inOrder(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || bareLine(a[i]) == bareLine(b[i]) {
			n++
		}
	}
	return n
}

// movedWith reports whether the block was moved to the span as part of a distinctive group of at
// least two lines that the old text lost and the new text gained. White space is ignored.
func (f *oldVersion) movedWith(was, now Span) bool {
	p := f.now
	o, n := was.First-1, now.First-1
	same := func(k int) bool {
		i, j := o+k, n+k
		return i >= 0 && i < len(f.lines) && j >= 0 && j < len(p.lines) && f.to[i] < 0 && !f.taken[j] &&
			bareLine(f.lines[i]) == bareLine(p.lines[j])
	}
	lo, hi := 0, now.Len()
	for hi-lo < maxRun && same(lo-1) {
		lo--
	}
	for hi-lo < maxRun && same(hi) {
		hi++
	}
	return hi-lo > 1 && countLetters(f.lines[o+lo:o+hi]...) >= distinctiveBlockLetters
}

// Limits for the comparison of blocks.
const (
	maxRun    = 1000 // number of lines in a group that was moved
	maxRivals = 100  // number of lines that are compared with the block
)
