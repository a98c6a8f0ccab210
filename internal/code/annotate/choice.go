// This file implements the last step of finding a block: it chooses one of the candidates by their scores,
// or none.

package annotate

// Limits for single lines in other words.
const (
	minLineLetters          = 20  // a line with fewer letters is similar to many other lines
	minShortLineContext     = .25 // share of the context below which such a line is not accepted
	minEqualWordsSimilarity = .95 // similarity of a line in which only punctuation or white space changed
)

// keptExplanation is the explanation if a block with changed lines was found by its unchanged lines.
const keptExplanation = "followed through the changes of the file since, which changed the block too"

// chooseKept chooses the block if all lines are unchanged, or if many lines are unchanged and the words are
// similar. All candidates contain the same unchanged lines.
func (s *blockSearch) chooseKept(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	best := cs[0]
	if best.unchanged.isWholeBlock {
		return s.matchUnchangedBlock(best)
	}
	if best.similarity < minSimilarity {
		return noMatch
	}
	return blockMatch{best.span(), Edited, best.similarity, keptExplanation}
}

// matchUnchangedBlock returns the match for a block whose lines are all unchanged.
func (s *blockSearch) matchUnchangedBlock(c candidate) blockMatch {
	m := blockMatch{c.span(), Tracked, .99, "followed through the changes of the file since"}
	if m.span == s.record.Span {
		m.placing = Exact
	}
	if !s.oldVersion.isDistinctiveBlock(s.record.Span) {
		m.confidence = doubtfulConfidence
		m.explanation += "; it is short, and the lines around it are others"
	}
	return m
}

// chooseHalfKept is like chooseKept, but if half of the block is unchanged, the similarity of its words
// may be less than [minSimilarity].
func (s *blockSearch) chooseHalfKept(cs []candidate) blockMatch {
	n := s.record.Span.Len()
	if len(cs) == 0 || n < 2 {
		return noMatch
	}
	best := cs[0]
	k := best.unchanged
	if k.letterShare < halfUnchangedShare && 2*k.count < n {
		return noMatch
	}
	return blockMatch{best.span(), Edited, max(best.similarity, k.letterShare*minSimilarity), keptExplanation}
}

// chooseCopy chooses the copy of the block with the best context. If there are several copies, or if the text is
// not distinctive, the context must be similar.
func (s *blockSearch) chooseCopy(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	best := cs[0]
	if best.contextScore < minContextScore && !s.isUnmistakable(cs) {
		return noMatch
	}
	confidence := .8 + .18*best.contextScore
	how := "by its text and " + shareInWords(best.contextScore) + " of the lines around it"
	if len(cs) > 1 && cs[1].contextScore == best.contextScore {
		confidence = .6
		how += "; other places are as good, and this one is the nearest"
	} else if len(cs) > 1 {
		confidence = min(confidence, .7+.3*(best.contextScore-cs[1].contextScore))
	}
	m := blockMatch{best.span(), Moved, confidence, how}
	if m.span == s.record.Span {
		m.placing = Exact
	}
	return m
}

// isUnmistakable reports whether the block can be found by its text alone.
func (s *blockSearch) isUnmistakable(cs []candidate) bool {
	return len(cs) == 1 && isDistinctive(s.record.Block)
}

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

// chooseUnique chooses the block if its text is distinctive and occurs exactly once.
func (s *blockSearch) chooseUnique(cs []candidate) blockMatch {
	if !s.isUnmistakable(cs) {
		return noMatch
	}
	return s.chooseCopy(cs)
}

// chooseUniqueBlock is like chooseUnique, but finds only blocks of several lines, and none that may be another
// copy of the block.
func (s *blockSearch) chooseUniqueBlock(cs []candidate) blockMatch {
	m := s.chooseUnique(cs)
	if m.placing == Lost || s.record.Span.Len() < 2 {
		return noMatch
	}
	if s.isContested(cs[0]) {
		return noMatch
	}
	return m
}

// chooseMoved chooses the copy with the best context, if most of the context was moved, too, or if the block was
// moved together with its neighbors.
func (s *blockSearch) chooseMoved(cs []candidate) blockMatch {
	m := s.chooseCopy(cs)
	if m.placing == Lost {
		return noMatch
	}
	near := s.sharedContext(m.span)
	isNear := near >= .65 || (near >= .5 && s.oldVersion.wasMovedInGroup(s.record.Span, m.span))
	if !isNear || s.isContested(cs[0]) {
		return noMatch
	}
	return m
}

// bestWindow returns the best of several candidates that are equally similar. It prefers a better position, then
// more lines in the order of the block, then the nearest candidate with as many lines.
func bestWindow(cs []candidate) candidate {
	best := cs[0]
	for _, c := range cs[1:] {
		if c.positionRank == best.positionRank && c.isBetterThan(&best) {
			best = c
		}
	}
	return best
}

// isBetterThan compares two windows at the same supposed position of the block.
func (c *candidate) isBetterThan(o *candidate) bool {
	if c.equalLines != o.equalLines {
		return c.equalLines > o.equalLines
	}
	return c.end-c.start == o.end-o.start && c.distance < o.distance
}

// chooseReplacement chooses the lines that replaced the block and may be a new version of it. It chooses none if
// these lines are more similar to other deleted lines, or if the block is a short line whose
// context has changed, too.
func (s *blockSearch) chooseReplacement(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestWindow(cs)
	block := s.blockLines()
	isShort := len(block) == 1 && countLetters(block[0]) < minLineLetters
	isVague := isShort && c.similarity < minEqualWordsSimilarity
	if isVague && s.sharedContext(c.span()) < minShortLineContext {
		return noMatch
	}
	if s.hasCloserRival(c) {
		return noMatch
	}
	return blockMatch{c.span(), Edited, c.similarity, "similar lines stand in its place"}
}

// chooseSimilar chooses the most similar lines, if they are similar enough with no other evidence, and if the
// block is distinctive or the context is similar, too.
func (s *blockSearch) chooseSimilar(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestWindow(cs)
	isShort := countLetters(s.record.Block...) < distinctiveLetters
	if isShort && s.sharedContext(c.span()) < minContextScore {
		return noMatch
	}
	confidence := .9 * c.similarity // similarity is the only evidence
	if confidence < minSimilarity {
		return noMatch
	}
	return blockMatch{c.span(), Edited, confidence, "similar lines stand there"}
}

// isContested reports whether the range may instead belong to another copy of the block that the old
// text lost, for example if several copies were merged into one. If copies match equally well,
// there is no conflict if the new text has as many copies.
func (s *blockSearch) isContested(c candidate) bool {
	f := s.oldVersion
	if f.oldIndex == nil {
		f.oldIndex = newLineIndex(s.newText.interner, f.lines)
	}
	equal := 1
	old := blockSearch{newText: f.oldIndex, record: s.record}
	for _, o := range old.findCopies() {
		copied := Record{Span: o.span()}
		if copied.Span == s.record.Span || f.newIndexes[o.start] >= 0 {
			continue
		}
		if !copied.SetLines(f.lines) {
			continue
		}
		other := blockSearch{newText: s.newText, record: &copied}
		switch context := other.contextScore(c.start, c.end); {
		case context > c.contextScore:
			return true
		case context == c.contextScore:
			equal++
		}
	}
	if equal == 1 {
		return false
	}
	for _, o := range s.scoreContext(s.findNewCopies()) {
		if o.contextScore == c.contextScore {
			equal--
		}
	}
	return equal > 0
}

// hasCloserRival reports whether a range of other deleted lines is more similar to the candidate than the block
// is. The deleted lines are those that the lines around the candidate replaced.
func (s *blockSearch) hasCloserRival(c candidate) bool {
	was := s.record.Span
	from, to := was.First-1, was.Last
	a, b, _, _ := s.oldVersion.extendToGap(from, to)
	if b-a > maxRivals {
		return false
	}
	for i := a; i+was.Len() <= b; i++ {
		isRival := i+was.Len() <= from || i >= to
		if isRival &&
			s.newText.newWordBag(s.oldVersion.lines[i:i+was.Len()]).similarity(c.start, c.end) > c.similarity {
			return true
		}
	}
	return false
}
