// This file implements the first step of finding a block: it searches the text for ranges of lines where the
// block may be. A range is a candidate if unchanged lines of the old version are there, if the same lines are
// there, or if similar lines are there.

package annotate

import (
	"cmp"
	"maps"
	"slices"
)

// findCopies returns the ranges where the text of the block occurs.
func (s *blockSearch) findCopies() []candidate { return s.copiesOutsideLines(nil) }

// findNewCopies returns the ranges of new lines, which the old version does not have, where the text of the
// block occurs. If the block was moved, its lines are among the new lines.
func (s *blockSearch) findNewCopies() []candidate {
	return s.copiesOutsideLines(s.oldVersion.isFromOldText)
}

// copiesOutsideLines returns the ranges of the new text that are copies of the block. If the block was cut, a copy has
// the stored lines at its beginning and end. Ranges that contain a line with index i for which excludedLines[i] is set
// are ignored. excludedLines may be nil.
func (s *blockSearch) copiesOutsideLines(excludedLines []bool) []candidate {
	r, p := s.record, s.newText
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
		id, ok := p.interner.lineIDs[l]
		if !ok {
			return nil
		}
		if c := len(p.postings.positionsOf(id)); least < 0 || c < least {
			rare, least = i, c
		}
	}
	var out []candidate
	for _, at := range p.postings.positionsOf(p.interner.lineIDs[head[rare]]) {
		first := int(at) - rare
		if !s.hasCopyAt(first, head, tail) {
			continue
		}
		if excludedLines != nil && slices.Contains(excludedLines[first:first+n], true) {
			continue
		}
		out = append(out, candidate{start: first, end: first + n, distance: lineDistance(first, r.Span.First-1)})
	}
	return out
}

// hasCopyAt reports whether the text has the lines of the block from index first on. The block begins with the lines
// of head and ends with those of tail, which is empty if the block was not cut.
func (s *blockSearch) hasCopyAt(first int, head, tail []string) bool {
	r, lines := s.record, s.newText.lines
	end := first + len(r.Block) + r.Cut
	if first < 0 || end > len(lines) {
		return false
	}
	if !slices.Equal(lines[first:first+len(head)], head) || !slices.Equal(lines[end-len(tail):end], tail) {
		return false
	}
	return r.Cut == 0 || hashLines(lines[first:end]) == r.Hash
}

// unchangedLines describes the lines of the block in the old version that the new text still has: their number, the
// first and the last of them, and their share of the block's letters. White space is ignored.
func (f *oldVersion) unchangedLines(oldSpan Span) *unchangedLines {
	k := &unchangedLines{firstIndex: -1, lastIndex: -1}
	from, to := oldSpan.First-1, oldSpan.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := countLetters(f.lines[i])
		all += n
		t := f.newIndexIgnoringSpace(i)
		if t < 0 {
			continue
		}
		if k.firstIndex < 0 {
			k.firstIndex, k.linesBefore = t, i-from
		}
		k.lastIndex, k.linesAfter = t, to-1-i
		k.count++
		got += n
		if f.newIndexes[i] >= 0 {
			exact++
		}
	}
	k.isWholeBlock = exact == to-from && k.lastIndex-k.firstIndex == exact-1
	k.letterShare = 1
	if all > 0 {
		k.letterShare = float64(got) / float64(all)
	}
	return k
}

// findKept returns ranges that contain the unchanged lines of the block, or none if too few lines are unchanged. A
// range ends at the unchanged lines before and after the block, or contains as many additional lines as the block
// had.
func (s *blockSearch) findKept() []candidate {
	was := s.record.Span
	k := s.oldVersion.unchangedLines(was)
	if k.isWholeBlock {
		return []candidate{{start: k.firstIndex, end: k.lastIndex + 1, unchanged: k}}
	}
	if k.areInsufficient(was) {
		return nil
	}
	var out []candidate
	for _, first := range s.oldVersion.possibleStarts(was, k) {
		for _, end := range s.oldVersion.possibleEnds(was, k) {
			out = append(out, candidate{start: first, end: end, unchanged: k})
		}
	}
	return out
}

// areInsufficient reports whether the unchanged lines are too few, or too far apart, to find the block by them.
func (k *unchangedLines) areInsufficient(oldSpan Span) bool {
	return k.count == 0 || k.letterShare < minUnchangedShare || k.lastIndex-k.firstIndex >= 4*oldSpan.Len()+20
}

// possibleStarts returns the indexes of the lines with which a range may start that contains the unchanged lines of
// the block.
func (f *oldVersion) possibleStarts(oldSpan Span, k *unchangedLines) []int {
	if k.linesBefore == 0 {
		return []int{k.firstIndex}
	}
	limit := 0 // the line after the unchanged lines before the block
	for i := oldSpan.First - 2; i >= 0; i-- {
		if t := f.newIndexIgnoringSpace(i); t >= 0 {
			limit = t + 1
			break
		}
	}
	if oldSpan.First > 1 && f.newIndexIgnoringSpace(oldSpan.First-2) >= 0 { // all lines in between belong to the block
		return []int{max(limit, k.firstIndex-2*oldSpan.Len())}
	}
	return []int{k.firstIndex, max(limit, k.firstIndex-k.linesBefore)}
}

// possibleEnds returns the indexes of the lines before which a range may end that contains the unchanged lines of the
// block.
func (f *oldVersion) possibleEnds(oldSpan Span, k *unchangedLines) []int {
	end := k.lastIndex + 1
	if k.linesAfter == 0 {
		return []int{end}
	}
	limit := len(f.newText.lines) // the first of the unchanged lines after the block
	for i := oldSpan.Last; i < len(f.bareNewIndexes); i++ {
		if t := f.newIndexIgnoringSpace(i); t >= 0 {
			limit = t
			break
		}
	}
	if oldSpan.Last < len(f.bareNewIndexes) &&
		f.newIndexIgnoringSpace(oldSpan.Last) >= 0 { // all lines in between belong to the block
		return []int{min(limit, end+2*oldSpan.Len())}
	}
	return []int{end, min(limit, end+k.linesAfter)}
}

// findReplacements returns the ranges of the lines that replaced the block in the old version. The result is valid
// until the next search.
func (s *blockSearch) findReplacements() []candidate {
	was := s.record.Span
	_, _, lo, hi := s.oldVersion.extendToGap(was.First-1, was.Last)
	s.windowBuffer = appendWindows(s.windowBuffer[:0], was.Len(), lo, hi, candidate{start: lo})
	return s.windowBuffer
}

// appendWindows appends the ranges between the indexes lo and hi that have about n lines: n, a third more or a
// third less. position is the supposed position of the block.
func appendWindows(out []candidate, n, lo, hi int, position candidate) []candidate {
	if hi <= lo || hi-lo > 8*n+40 {
		return out
	}
	for _, size := range []int{n, n + n/3 + 1, max(1, n-n/3)} {
		for first := lo; first == lo || first+size <= hi; first++ {
			out = append(out, candidate{start: first, end: min(first+size, hi), positionRank: position.positionRank,
				distance: lineDistance(first, position.start)})
		}
	}
	return out
}

// Limits of [blockSearch.findSimilar].
const (
	maxVoterOccurrences = 20 // lines that occur more often than this do not vote
	maxVotedPositions   = 4  // number of positions that are examined
)

// findSimilar returns ranges around the positions for which most lines vote. Each block line and each context
// line votes for a position of the block, ignoring white space. The result is valid until the next search.
func (s *blockSearch) findSimilar() []candidate {
	votes := s.countVotes()
	places := slices.SortedFunc(maps.Keys(votes), func(a, b int) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), a-b)
	})
	n := len(s.record.Block) + s.record.Cut
	out := s.windowBuffer[:0]
	for i, at := range places[:min(len(places), maxVotedPositions)] {
		lo, hi := max(0, at-2), min(len(s.newText.lines), at+n+2)
		if s.record.Cut > 0 && lo < hi { // the block is too long to try all ranges
			out = append(out, candidate{start: lo, end: hi, positionRank: i})
		} else {
			out = appendWindows(out, n, lo, hi, candidate{start: at, positionRank: i})
		}
	}
	s.windowBuffer = out
	return out
}

// countVotes returns, for each possible position of the block's first line, the weight of the
// block and context lines that support this position.
func (s *blockSearch) countVotes() map[int]float64 {
	r, p := s.record, s.newText
	bare := p.barePostings()
	votes := map[int]float64{}
	vote := func(lines []string, shift int) {
		for i, l := range lines {
			b := removeLineSpace(l)
			if countLetters(b) < 3 {
				continue
			}
			id, ok := p.interner.bareLineIDs[b]
			if !ok {
				continue
			}
			at := bare.positionsOf(id)
			if len(at) > maxVoterOccurrences {
				continue
			}
			for _, a := range at {
				votes[int(a)-i-shift] += 1 / float64(len(at))
			}
		}
	}
	vote(r.Before, -len(r.Before))
	vote(r.After, len(r.Block)+r.Cut)
	half := len(r.Block)
	if r.Cut > 0 {
		half /= 2
	}
	vote(r.Block[:half], 0)
	vote(r.Block[half:], half+r.Cut)
	return votes
}

// lineDistance returns the number of lines between the indexes a and b.
func lineDistance(a, b int) int { return max(a-b, b-a) }
