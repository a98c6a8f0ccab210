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
func (s *blockSearch) findCopies() []candidate { return s.copiesOutside(nil) }

// findNewCopies returns the ranges of new lines, which the old version does not have, where the text of the
// block occurs. If the block was moved, its lines are among the new lines.
func (s *blockSearch) findNewCopies() []candidate { return s.copiesOutside(s.old.taken) }

// copiesOutside implements findCopies. It ignores ranges that contain a line with index i for which taken[i] is
// set. Taken may be nil.
func (s *blockSearch) copiesOutside(taken []bool) []candidate {
	r, p := s.record, s.text
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
		if !s.hasCopyAt(first, head, tail) {
			continue
		}
		if taken != nil && slices.Contains(taken[first:first+n], true) {
			continue
		}
		out = append(out, candidate{first: first, end: first + n, distance: lineDistance(first, r.Span.First-1)})
	}
	return out
}

// hasCopyAt reports whether the text has the lines of the block from index first on. The block begins with the lines of
// head and ends with those of tail, which is empty if the block was not cut.
func (s *blockSearch) hasCopyAt(first int, head, tail []string) bool {
	r, lines := s.record, s.text.lines
	end := first + len(r.Block) + r.Cut
	if first < 0 || end > len(lines) {
		return false
	}
	if !slices.Equal(lines[first:first+len(head)], head) || !slices.Equal(lines[end-len(tail):end], tail) {
		return false
	}
	return r.Cut == 0 || hashLines(lines[first:end]) == r.Hash
}

// unchangedLines returns the lines of the block in the old version that are unchanged.
func (f *oldVersion) unchangedLines(was Span) *keptLines {
	k := &keptLines{first: -1, last: -1}
	from, to := was.First-1, was.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := countLetters(f.lines[i])
		all += n
		t := f.bareAt(i)
		if t < 0 {
			continue
		}
		if k.first < 0 {
			k.first, k.head = t, i-from
		}
		k.last, k.tail = t, to-1-i
		k.lines++
		got += n
		if f.to[i] >= 0 {
			exact++
		}
	}
	k.whole = exact == to-from && k.last-k.first == exact-1
	k.share = 1
	if all > 0 {
		k.share = float64(got) / float64(all)
	}
	return k
}

// findKept returns ranges that contain the unchanged lines of the block, or none if too few lines are unchanged. A
// range ends at the unchanged lines before and after the block, or contains as many additional lines as the block
// had.
func (s *blockSearch) findKept() []candidate {
	was := s.record.Span
	k := s.old.unchangedLines(was)
	if k.whole {
		return []candidate{{first: k.first, end: k.last + 1, kept: k}}
	}
	if k.areTooFew(was) {
		return nil
	}
	var out []candidate
	for _, first := range s.old.possibleStarts(was, k) {
		for _, end := range s.old.possibleEnds(was, k) {
			out = append(out, candidate{first: first, end: end, kept: k})
		}
	}
	return out
}

// areTooFew reports whether the unchanged lines are too few, or too far apart, to find the block by them.
func (k *keptLines) areTooFew(was Span) bool {
	return k.lines == 0 || k.share < leastKept || k.last-k.first >= 4*was.Len()+20
}

// possibleStarts returns the indexes of the lines with which a range may start that contains the unchanged lines of
// the block.
func (f *oldVersion) possibleStarts(was Span, k *keptLines) []int {
	if k.head == 0 {
		return []int{k.first}
	}
	limit := 0 // the line after the unchanged lines before the block
	for i := was.First - 2; i >= 0; i-- {
		if t := f.bareAt(i); t >= 0 {
			limit = t + 1
			break
		}
	}
	if was.First > 1 && f.bareAt(was.First-2) >= 0 { // all lines in between belong to the block
		return []int{max(limit, k.first-2*was.Len())}
	}
	return []int{k.first, max(limit, k.first-k.head)}
}

// possibleEnds returns the indexes of the lines before which a range may end that contains the unchanged lines of the
// block.
func (f *oldVersion) possibleEnds(was Span, k *keptLines) []int {
	end := k.last + 1
	if k.tail == 0 {
		return []int{end}
	}
	limit := len(f.now.lines) // the first of the unchanged lines after the block
	for i := was.Last; i < len(f.bareTo); i++ {
		if t := f.bareAt(i); t >= 0 {
			limit = t
			break
		}
	}
	if was.Last < len(f.bareTo) && f.bareAt(was.Last) >= 0 { // all lines in between belong to the block
		return []int{min(limit, end+2*was.Len())}
	}
	return []int{end, min(limit, end+k.tail)}
}

// findReplacements returns the ranges of the lines that replaced the block in the old version. The result is valid
// until the next search.
func (s *blockSearch) findReplacements() []candidate {
	was := s.record.Span
	_, _, lo, hi := s.old.extendToGap(was.First-1, was.Last)
	s.windows = appendWindows(s.windows[:0], was.Len(), lo, hi, candidate{first: lo})
	return s.windows
}

// appendWindows appends the ranges between the indexes lo and hi that have about n lines: n, a third more or a
// third less. The supposed position is at.
func appendWindows(out []candidate, n, lo, hi int, at candidate) []candidate {
	if hi <= lo || hi-lo > 8*n+40 {
		return out
	}
	for _, size := range []int{n, n + n/3 + 1, max(1, n-n/3)} {
		for first := lo; first == lo || first+size <= hi; first++ {
			out = append(out, candidate{first: first, end: min(first+size, hi), place: at.place,
				distance: lineDistance(first, at.first)})
		}
	}
	return out
}

// Limits of [blockSearch.findSimilar].
const (
	maxCommon = 20 // lines that occur more often than this do not vote
	maxVoted  = 4  // number of positions that are examined
)

// findSimilar returns ranges around the positions for which most lines vote. Each block line and each context
// line votes for a position of the block, ignoring white space. The result is valid until the next search.
func (s *blockSearch) findSimilar() []candidate {
	votes := s.countVotes()
	places := slices.SortedFunc(maps.Keys(votes), func(a, b int) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), a-b)
	})
	n := len(s.record.Block) + s.record.Cut
	out := s.windows[:0]
	for i, at := range places[:min(len(places), maxVoted)] {
		lo, hi := max(0, at-2), min(len(s.text.lines), at+n+2)
		if s.record.Cut > 0 && lo < hi { // the block is too long to try all ranges
			out = append(out, candidate{first: lo, end: hi, place: i})
		} else {
			out = appendWindows(out, n, lo, hi, candidate{first: at, place: i})
		}
	}
	s.windows = out
	return out
}

// countVotes returns, for each possible position of the block's first line, the weight of the
// block and context lines that support this position.
func (s *blockSearch) countVotes() map[int]float64 {
	r, p := s.record, s.text
	bare := p.barePostings()
	votes := map[int]float64{}
	vote := func(lines []string, shift int) {
		for i, l := range lines {
			b := bareLine(l)
			if countLetters(b) < 3 {
				continue
			}
			id, ok := p.in.bareLines[b]
			if !ok {
				continue
			}
			at := bare.of(id)
			if len(at) > maxCommon {
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
