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

	minContextScore   = .34 // share of the context that must match for lines with fewer letters
	minSimilarity     = .5  // minimum similarity of edited text
	minLineSimilarity = .6  // minimum similarity of a single edited line, which has only few words
)

// Minimum shares of the block's letters that must be unchanged. Lines with few letters, such as
// braces, may occur in the same order by accident.
const (
	minUnchangedShare  = .3
	halfUnchangedShare = .5 // the share if the words are not similar, unless half of the lines are unchanged
)

// scoreContext measures the context of the candidates and sorts them, the best first.
func (s *blockSearch) scoreContext(cs []candidate) []candidate {
	for i := range cs {
		cs[i].contextScore = s.contextScore(cs[i].start, cs[i].end)
	}
	slices.SortFunc(cs, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.contextScore, a.contextScore), a.distance-b.distance)
	})
	return cs
}

// scoreWords measures how similar the words of the candidates and of the block are, and sorts the candidates, the
// most similar first. Of equally similar candidates, the last one, which has the most lines, comes first.
func (s *blockSearch) scoreWords(cs []candidate) []candidate {
	if len(cs) == 0 || cs[0].unchanged.isWholeBlock {
		return cs
	}
	bag := s.newText.newWordBag(s.blockLines())
	for i := range cs {
		cs[i].similarity = bag.similarity(cs[i].start, cs[i].end)
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
	most := minSimilarity
	if len(block) == 1 {
		most = minLineSimilarity
	}
	bag := s.newText.newWordBag(block)
	best := cs[:0]
	for _, c := range cs {
		c.similarity = bag.similarity(c.start, c.end)
		if c.similarity > most {
			most, best = c.similarity, best[:0]
		}
		if c.similarity == most {
			best = append(best, c)
		}
	}
	if len(best) > 1 {
		for i, c := range best {
			best[i].equalLines = countEqualLines(block, s.newText.lines[c.start:c.end])
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
	minConfidentLetters = 30
	doubtfulConfidence  = .6 // confidence in a block with fewer letters
)

// isDistinctiveBlock reports whether an unchanged block is distinctive, alone or together with the unchanged
// lines next to it.
func (f *oldVersion) isDistinctiveBlock(oldSpan Span) bool {
	from, to := oldSpan.First-1, oldSpan.Last
	n := countLetters(f.lines[from:to]...)
	along := func(i, step int) {
		for k := 0; k < ContextLines && i >= 0 && i < len(f.newIndexes) && i-step >= 0 && f.newIndexes[i] >= 0 &&
			f.newIndexes[i] == f.newIndexes[i-step]+step; k++ {
			n += countLetters(f.lines[i])
			i += step
		}
	}
	along(from-1, -1)
	along(to, 1)
	return n >= minConfidentLetters || len(f.lines) < 2*ContextLines
}

// scopeWeight is the weight of the enclosing lines in contextScore. The two lines next to the block
// weigh 1 each.
const scopeWeight = 1.5

// contextScore returns how much of the block's context (0 to 1) surrounds the lines from index first to end-1.
// Nearer lines have more weight. The beginning and the end of the file count as lines.
func (s *blockSearch) contextScore(first, end int) float64 {
	r, p := s.record, s.newText
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
	for k := range ContextLines {
		line(1, before, k, first-1-k)
		line(1, r.After, k, end+k)
	}
	if len(r.Scope) > 0 {
		same, of := s.sharedEnclosingLines(first)
		got, all = got+scopeWeight*float64(same)/float64(of), all+scopeWeight
	}
	return got / all
}

// sharedContext returns the share of the block's context that also surrounds the span. The
// context consists of the lines before and after, in any order, and the enclosing lines. White
// space is ignored.
func (s *blockSearch) sharedContext(newSpan Span) float64 {
	r, p := s.record, s.newText
	got, all := 0, 0
	side := func(want []string, from, to int) {
		have := p.bareLineSet(from, to)
		for _, l := range want {
			if b := removeLineSpace(l); b != "" {
				all++
				if have[b] {
					got++
				}
			}
		}
	}
	side(r.Before, newSpan.First-1-ContextLines, newSpan.First-1)
	side(r.After, newSpan.Last, newSpan.Last+ContextLines)
	same, of := s.sharedEnclosingLines(newSpan.First - 1)
	got, all = got+same, all+of
	if all == 0 {
		return 0
	}
	return float64(got) / float64(all)
}

// sharedEnclosingLines returns the number of the block's enclosing lines that also enclose the line with
// index first, and the number of all its enclosing lines. Indentation is ignored.
func (s *blockSearch) sharedEnclosingLines(first int) (same, total int) {
	r, p := s.record, s.newText
	if len(r.Scope) == 0 || first >= len(p.lines) {
		return 0, len(r.Scope)
	}
	at := p.enclosingLine(first)
	for n := 0; at >= 0 && n < maxEnclosingLines && first-at <= maxEnclosingDistance; n++ {
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
func (s *blockSearch) sharedLetters(newSpan Span) float64 {
	have := s.newText.bareLineSet(newSpan.First-1, newSpan.Last)
	got, all := 0, 0
	for _, l := range s.record.Block {
		n := countLetters(l) + 1 // add 1, so that lines without letters count as well
		all += n
		if have[removeLineSpace(l)] {
			got += n
		}
	}
	return float64(got) / float64(all)
}

// countEqualLines returns the number of indexes at which a and b have the same line.
func countEqualLines(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || removeLineSpace(a[i]) == removeLineSpace(b[i]) {
			n++
		}
	}
	return n
}

// wasMovedInGroup reports whether the block was moved to the span as part of a distinctive group of at
// least two lines that the old text lost and the new text gained. White space is ignored.
func (f *oldVersion) wasMovedInGroup(oldSpan, newSpan Span) bool {
	p := f.newText
	o, n := oldSpan.First-1, newSpan.First-1
	same := func(k int) bool {
		i, j := o+k, n+k
		return i >= 0 && i < len(f.lines) && j >= 0 && j < len(p.lines) && f.newIndexes[i] < 0 && !f.isFromOldText[j] &&
			removeLineSpace(f.lines[i]) == removeLineSpace(p.lines[j])
	}
	lo, hi := 0, newSpan.Len()
	for hi-lo < maxMovedGroup && same(lo-1) {
		lo--
	}
	for hi-lo < maxMovedGroup && same(hi) {
		hi++
	}
	return hi-lo > 1 && countLetters(f.lines[o+lo:o+hi]...) >= distinctiveBlockLetters
}

// Limits for the comparison of blocks.
const (
	maxMovedGroup = 1000 // number of lines in a group that was moved
	maxRivals     = 100  // number of lines that are compared with the block
)
