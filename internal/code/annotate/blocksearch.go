// This file finds the present position of a block in a text. It tries several ways, from the most certain to the
// least certain. Each way has three steps: candidates.go finds ranges of lines, scores.go measures how well they
// fit, and choice.go chooses one of them or none.

package annotate

import "slices"

// way is a way to find a block, in three steps.
type way struct {
	find   func(*blockSearch) []candidate
	score  func(*blockSearch, []candidate) []candidate
	choose func(*blockSearch, []candidate) match
}

// The ways to find a block, from the most certain to the least certain.
var (
	waysWithOld = []way{
		{(*blockSearch).findKept, (*blockSearch).scoreWords, (*blockSearch).chooseKept},
		{(*blockSearch).findNewCopies, (*blockSearch).scoreContext, (*blockSearch).chooseMoved},
		{(*blockSearch).findCopies, (*blockSearch).scoreContext, (*blockSearch).chooseUniqueBlock},
		{(*blockSearch).findKept, (*blockSearch).scoreWords, (*blockSearch).chooseHalfKept},
		{(*blockSearch).findReplacements, (*blockSearch).scoreMostSimilar, (*blockSearch).chooseReplacement},
	}
	waysByText = []way{
		byText,
		{(*blockSearch).findSimilar, (*blockSearch).scoreMostSimilar, (*blockSearch).chooseSimilar},
	}
	byText       = way{(*blockSearch).findCopies, (*blockSearch).scoreContext, (*blockSearch).chooseCopy}
	byUniqueText = way{(*blockSearch).findCopies, (*blockSearch).scoreContext, (*blockSearch).chooseUnique}
)

// findBy chooses the position of the block in one way.
func (s *blockSearch) findBy(w way) match { return w.choose(s, w.score(s, w.find(s))) }

// alikeOnly is the factor by which the confidence is multiplied if almost no line of the block is
// unchanged. Therefore a confidence of .5 or more means that some lines are unchanged.
const alikeOnly = .49

// find chooses the position of the block. Blob is the text's blob name.
func (s *blockSearch) find(blob string) match {
	r := s.record
	isEmptyFile := r.Span.Len() == 0 && len(s.text.lines) == 0
	if len(r.Block) == 0 || isEmptyFile {
		return notFound
	}
	isSameFile := r.Blob != "" && r.Blob == blob
	if isSameFile && r.hasBlock(s.text.lines) {
		return match{r.Span, Exact, 1, "the file is as it was then"}
	}
	ways := waysWithOld
	if s.old != nil && r.hasBlock(s.old.lines) {
		s.old.mapLines()
	} else {
		s.old, ways = nil, waysByText
	}
	m := notFound
	for _, w := range ways {
		candidates := w.score(s, w.find(s))
		m = w.choose(s, candidates)
		if m.placing != Lost {
			break
		}
	}
	if m.placing == Edited && s.sharedLetters(m.span) < leastKept {
		m.confidence *= alikeOnly
		m.how += ", in other words"
	}
	return m
}

// hasBlock reports whether the lines of a text contain the block at the span. A sidecar may contain a blob name
// that does not match its block.
func (r *Record) hasBlock(lines []string) bool {
	return r.Span.Len() > 0 && r.Span.Last <= len(lines) && hashLines(lines[r.Span.First-1:r.Span.Last]) == r.Hash
}

// isSuccessor reports whether the deleted file of a sidecar has probably become this text: an annotation
// was written for exactly this content, or at least half of the blocks, and at least two, occur
// here in their order.
func (p *lineIndex) isSuccessor(s *sidecar, now string) bool {
	votes := 0
	last := 0
	all := 0
	order := slices.Clone(s.records)
	slices.SortStableFunc(order, func(a, b *Record) int { return a.Span.First - b.Span.First })
	for _, r := range order {
		if r.Blob != "" && r.Blob == now {
			return true
		}
		if r.Archived {
			continue
		}
		all++
		search := blockSearch{text: p, record: r}
		if m := search.findBy(byText); m.placing != Lost && m.span.First >= last {
			votes, last = votes+1, m.span.First
		}
	}
	return votes >= 2 && 2*votes >= all
}
