// This file finds a block by similar lines.

package annotate

import (
	"cmp"
	"maps"
	"slices"
)

// mostSimilar returns the most similar window of lines between the indexes lo and hi. Among
// equally similar windows, it prefers the window with more block lines in their order, then the
// window nearest to want.
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
				apart(at, want) < apart(best.span.First-1, want)) {
				best, most = here, kept
			}
		}
	}
	return best
}

// inOrder returns the number of lines that a and b have in common at the same index. White space is
// ignored.
func inOrder(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || bareLine(a[i]) == bareLine(b[i]) {
			n++
		}
	}
	return n
}

// alikeOnly is the factor for the confidence if almost no line of the block is unchanged. So a
// confidence of .5 or more means that some lines are unchanged.
const alikeOnly = .49

// sharedLetters returns the share of the block's letters that are in lines which also occur in the
// span. White space is ignored.
func (p *lineIndex) sharedLetters(block []string, s Span) float64 {
	have := p.bareSet(s.First-1, s.Last)
	got, all := 0, 0
	for _, l := range block {
		n := countLetters(l) + 1 // plus 1, so that lines without letters count
		all += n
		if have[bareLine(l)] {
			got += n
		}
	}
	return float64(got) / float64(all)
}

// Limits of [lineIndex.bySimilarity].
const (
	maxCommon = 20 // lines that occur more often do not vote
	maxVoted  = 4  // number of positions that are compared
)

// bySimilarity finds lines that are similar to the block. Each block line and each context line
// votes for a position, ignoring white space. Then the blocks at the best positions are
// compared.
func (p *lineIndex) bySimilarity(r *Record) match {
	votes := p.countVotes(r)
	places := slices.SortedFunc(maps.Keys(votes), func(a, b int) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), a-b)
	})
	n := len(r.Block) + r.Cut
	best := notFound
	for _, at := range places[:min(len(places), maxVoted)] {
		lo, hi := max(0, at-2), min(len(p.lines), at+n+2)
		if hi <= lo {
			continue
		}
		m := notFound
		if r.Cut > 0 { // the block is too long to try all windows
			if same := p.newWordBag(r.Block).similarity(lo, hi); same >= similar {
				m = match{Span{lo + 1, hi}, Edited, same, ""}
			}
		} else {
			m = p.mostSimilar(r.Block, lo, hi, at)
		}
		if m.confidence > best.confidence {
			best = m
			best.how = "similar lines stand there"
		}
	}
	if best.placing == Edited && countLetters(r.Block...) < telling && p.sharedContext(r, best.span) < nearContext {
		return notFound // the text is too short to be certain, and the context is different
	}
	best.confidence *= .9 // similarity is the only evidence
	if best.placing == Edited && best.confidence < similar {
		return notFound
	}
	return best
}

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
