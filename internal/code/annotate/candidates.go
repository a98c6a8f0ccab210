// This file implements the first step of finding a block: it searches the text for positions where the
// block may be. A position is a candidate if the same lines are there, if unchanged lines of the old version
// are there, or if similar lines are there.

package annotate

import (
	"cmp"
	"slices"
)

// candidate is a position where the text of a block occurs unchanged.
type candidate struct {
	first    int     // index of the first line of the block at this position
	context  float64 // see [lineIndex.contextScore]
	distance int     // distance in lines from the block's old position
}

// findCandidates returns the positions where the text of the block occurs, the best first.
func (p *lineIndex) findCandidates(r *Record, taken []bool) []candidate {
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
		out = append(out, candidate{first, p.contextScore(r, first, n), lineDistance(first, r.Span.First-1)})
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.context, a.context), a.distance-b.distance)
	})
	return out
}

// keptLines describes the unchanged lines of a block.
type keptLines struct {
	first, last int     // first and last unchanged line, as indexes in the new text (-1 if there are none)
	head, tail  int     // number of block lines before and after the unchanged lines
	lines       int     // number of unchanged lines, ignoring white space
	share       float64 // share of the block's letters in unchanged lines
	whole       bool    // the whole block is unchanged and contiguous
}

// unchangedLines returns the unchanged lines of the block at was.
func (f *oldVersion) unchangedLines(p *lineIndex, was Span) keptLines {
	k := keptLines{first: -1, last: -1}
	from, to := was.First-1, was.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := countLetters(f.lines[i])
		all += n
		t := f.bareAt(p, i)
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

// extendUnchanged returns the block that contains the unchanged lines, or notFound if these are too
// few. It reports whether the words of the block are similar to the old ones.
func (f *oldVersion) extendUnchanged(p *lineIndex, was Span, k keptLines) (m match, isSimilar bool) {
	if k.whole {
		m := match{Span{k.first + 1, k.last + 1}, Tracked, .99, "followed through the changes of the file since"}
		if m.span == was {
			m.placing = Exact
		}
		if !f.isDistinctiveBlock(was) {
			m.confidence = doubtful
			m.how += "; it is short, and the lines around it are others"
		}
		return m, true
	}
	if k.lines == 0 || k.share < leastKept || k.last-k.first >= 4*was.Len()+20 {
		return notFound, false
	}
	m = f.extendToSimilar(p, was, k)
	return m, m.confidence >= similar
}

// extendToSimilar extends a block's unchanged lines to the most similar range of lines. The
// range ends at the unchanged lines before and after the block, or contains as many additional
// lines as the block had.
func (f *oldVersion) extendToSimilar(p *lineIndex, was Span, k keptLines) match {
	from := was.First - 1
	to := was.Last
	n := was.Len()
	above, below := 0, len(p.lines) // limits: the unchanged lines before and after the block
	for i := from - 1; i >= 0; i-- {
		if t := f.bareAt(p, i); t >= 0 {
			above = t + 1
			break
		}
	}
	for i := to; i < len(f.bareTo); i++ {
		if t := f.bareAt(p, i); t >= 0 {
			below = t
			break
		}
	}
	los, his := []int{k.first}, []int{k.last + 1}
	switch {
	case k.head == 0:
	case from > 0 && f.bareAt(p, from-1) >= 0: // the lines in between all belong to the block
		los[0] = max(above, k.first-2*n)
	default:
		los = append(los, max(above, k.first-k.head))
	}
	switch {
	case k.tail == 0:
	case to < len(f.bareTo) && f.bareAt(p, to) >= 0:
		his[0] = min(below, k.last+1+2*n)
	default:
		his = append(his, min(below, k.last+1+k.tail))
	}
	best := notFound
	bag := p.newWordBag(f.lines[from:to])
	for _, lo := range los {
		for _, hi := range his {
			if same := bag.similarity(lo, hi); best.placing == Lost || same >= best.confidence {
				best = match{
					Span{lo + 1, hi},
					Edited,
					same,
					"followed through the changes of the file since, which changed the block too",
				}
			}
		}
	}
	return best
}

// Minimum shares of the block's letters that must be unchanged. Lines with few letters, such as
// braces, may occur in the same order by accident.
const (
	leastKept = .3
	halfKept  = .5 // the share if the words are not similar, unless half of the lines are unchanged
)

// mostSimilar returns the most similar window of lines between the indexes lo and hi. Among equally
// similar windows, it prefers the window in which more of the block's lines are in the block's
// order, then the window nearest to want.
func (p *lineIndex) mostSimilar(block []string, lo, hi, want int) match {
	n := len(block)
	if hi <= lo || hi-lo > 8*n+40 {
		return notFound
	}
	least := similar
	if n == 1 {
		least = similarLine
	}
	best, most := notFound, -1 // -1 until it is needed
	bag := p.newWordBag(block)
	for _, size := range []int{n, n + n/3 + 1, max(1, n-n/3)} {
		for at := lo; at == lo || at+size <= hi; at++ {
			end := min(at+size, hi)
			same := bag.similarity(at, end)
			if same < least || same < best.confidence {
				continue
			}
			here := match{Span{at + 1, end}, Edited, same, "similar lines stand in its place"}
			if same > best.confidence {
				best, most = here, -1
				continue
			}
			if most < 0 {
				most = inOrder(block, p.lines[best.span.First-1:best.span.Last])
			}
			kept := inOrder(block, p.lines[at:end])
			if kept > most || (kept == most && end-at == best.span.Len() &&
				lineDistance(at, want) < lineDistance(best.span.First-1, want)) {
				best, most = here, kept
			}
		}
	}
	return best
}

// Limits of [lineIndex.bySimilarity].
const (
	maxCommon = 20 // lines that occur more often than this do not vote
	maxVoted  = 4  // number of positions that are compared
)

// countVotes returns, for each possible position of the block's first line, the weight of the
// block and context lines that support this position.
func (p *lineIndex) countVotes(r *Record) map[int]float64 {
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
