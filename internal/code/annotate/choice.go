// This file implements the last step of finding a block: it chooses one of the candidates by their scores, or none.
// The step tries these cases in order, beginning with the most certain case: the file is unchanged, the old version
// shows where the lines went, the same text exists, or similar text exists.

package annotate

import (
	"cmp"
	"maps"
	"slices"
)

// find chooses the position of an annotation's block in the text. blob is the blob name of the text. old is the
// version for which the annotation was written, or nil if git no longer has this version.
func (p *lineIndex) find(r *Record, blob string, old *oldVersion) match {
	if len(r.Block) == 0 || (r.Span.Len() == 0 && len(p.lines) == 0) {
		return notFound
	}
	// Compare the block with the lines, because a sidecar may contain a blob name that does not match its block.
	hasBlock := func(lines []string) bool {
		return r.Span.Len() > 0 && r.Span.Last <= len(lines) && hashLines(lines[r.Span.First-1:r.Span.Last]) == r.Hash
	}
	if r.Blob != "" && r.Blob == blob && hasBlock(p.lines) {
		return match{r.Span, Exact, 1, "the file is as it was then"}
	}
	m := notFound
	if old != nil && hasBlock(old.lines) {
		m = p.byDiff(r, old)
	} else {
		m = p.byText(r, nil)
		if m.placing == Lost {
			m = p.bySimilarity(r)
		}
	}
	if m.placing == Edited && p.sharedLetters(r.Block, m.span) < leastKept {
		m.confidence *= alikeOnly
		m.how += ", in other words"
	}
	return m
}

// byDiff finds the block by comparing the present text with the old text. It tries four steps, in this order: find
// unchanged lines of the block, find lines that were moved, find at least half of the block, and find lines that
// replaced the block.
func (p *lineIndex) byDiff(r *Record, f *oldVersion) match {
	f.mapLines(p)
	if m := f.findRemains(p, r.Span); m.placing != Lost {
		return m
	}
	// If the block was moved, its lines are among the added lines. Accept these lines if most of the context was moved
	// as well, or if the block was moved together with its neighbors. Otherwise, accept a block of several lines only
	// if its text is distinctive and occurs once.
	if m := p.byText(r, f.taken); m.placing != Lost {
		near := p.sharedContext(r, m.span)
		if (near >= .65 || (near >= .5 && f.movedWith(p, r.Span, m.span))) && !f.isContested(p, r, m.span) {
			return m
		}
	}
	if m := p.byUniqueText(r); m.placing != Lost && r.Span.Len() > 1 && !f.isContested(p, r, m.span) {
		return m
	}
	if m := f.findHalf(p, r.Span); m.placing != Lost {
		return m
	}
	return p.byRewording(r, f)
}

// byText finds the block if its text occurs unchanged. It ignores positions that contain a line with index i for which
// taken[i] is set. taken may be nil.
func (p *lineIndex) byText(r *Record, taken []bool) match {
	best := p.findCandidates(r, taken)
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
	if len(p.findCandidates(r, nil)) != 1 || !isDistinctive(r.Block) {
		return notFound
	}
	return p.byText(r, nil)
}

// findRemains finds a block of which all or many lines are unchanged and whose words are similar.
func (f *oldVersion) findRemains(p *lineIndex, was Span) match {
	m, isSimilar := f.extendUnchanged(p, was, f.unchangedLines(p, was))
	if !isSimilar {
		return notFound
	}
	return m
}

// findHalf is like findRemains, but if half of the block is unchanged, the similarity of its words
// may be less than [similar].
func (f *oldVersion) findHalf(p *lineIndex, was Span) match {
	k := f.unchangedLines(p, was)
	m, isSimilar := f.extendUnchanged(p, was, k)
	if isSimilar || m.placing == Lost {
		return m
	}
	n := was.Len()
	if n > 1 && (k.share >= halfKept || 2*k.lines >= n) {
		m.confidence = max(m.confidence, k.share*similar)
		return m
	}
	return notFound
}

// isContested reports whether the lines of the span may instead belong to another copy of the block
// that the old text contained and the new text lost, for example because several copies were merged
// into one. If several copies match equally well, the span is not contested if the new text has as
// many copies as the old text.
func (f *oldVersion) isContested(p *lineIndex, r *Record, now Span) bool {
	if f.index == nil {
		f.index = newLineIndex(p.in, f.lines)
	}
	score := p.contextScore(r, now.First-1, now.Len())
	equal := 1
	for _, c := range f.index.findCandidates(r, nil) {
		copied := Record{Span: Span{c.first + 1, c.first + now.Len()}}
		if copied.Span == r.Span || f.to[c.first] >= 0 || !copied.SetLines(f.lines) {
			continue
		}
		switch s := p.contextScore(&copied, now.First-1, now.Len()); {
		case s > score:
			return true
		case s == score:
			equal++
		}
	}
	if equal == 1 {
		return false
	}
	for _, c := range p.findCandidates(r, f.taken) {
		if c.context == score {
			equal--
		}
	}
	return equal > 0
}

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
		if r.Cut > 0 { // do not try all windows, because the block is too long
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
	isShort := countLetters(r.Block...) < distinctiveLetters
	if best.placing == Edited && isShort && p.sharedContext(r, best.span) < nearContext {
		return notFound // the text is too short to be recognized, and the context is different
	}
	best.confidence *= .9 // lower the confidence, because similarity is the only evidence
	if best.placing == Edited && best.confidence < similar {
		return notFound
	}
	return best
}

// byRewording finds lines that replaced the block and may be a new version of it. It returns no
// position if these lines are more similar to other deleted lines, or if the block is a short line
// and its context has changed as well.
func (p *lineIndex) byRewording(r *Record, f *oldVersion) match {
	was := r.Span
	from, to := was.First-1, was.Last
	a, b, lo, hi := f.extendToGap(p, from, to)
	m := p.mostSimilar(f.lines[from:to], lo, hi, lo)
	if m.placing != Lost && was.Len() == 1 && m.confidence < sameWords && countLetters(f.lines[from]) < fewLetters &&
		p.sharedContext(r, m.span) < littleContext {
		return notFound
	}
	if m.placing == Lost || b-a > maxRivals {
		return m
	}
	for i := a; i+was.Len() <= b; i++ {
		if i+was.Len() <= from || i >= to {
			if p.newWordBag(f.lines[i:i+was.Len()]).similarity(m.span.First-1, m.span.Last) > m.confidence {
				return notFound
			}
		}
	}
	return m
}
