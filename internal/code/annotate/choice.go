// This file implements the last step in finding a block: it chooses one of the scored candidates, or none.

package annotate

// These limits apply if the annotation explains a single line and the words of this line have changed.
const (
	// A line with fewer letters is short: it may look like many other lines in the file by chance.
	minLineLetters          = 20
	minShortLineContext     = .25 // minimum share of the lines around a short line that must be unchanged
	minEqualWordsSimilarity = .95 // similarity from which a line counts as changed only in punctuation or white space
)

// unchangedExplanation tells a person how a changed block was found by its unchanged lines.
const unchangedExplanation = "followed through the changes of the file since, which changed the block too"

// chooseUnchanged chooses the best candidate if the whole block is unchanged, or if many lines are unchanged and
// the words are similar. All candidates contain the same unchanged lines.
func (s *blockSearch) chooseUnchanged(cs []candidate) blockMatch {
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
	return blockMatch{best.span(), Edited, best.similarity, unchangedExplanation}
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

// chooseHalfUnchanged chooses the best candidate if at least half of the annotated block is unchanged. The words of
// the candidate may be less similar to the block than [minSimilarity].
func (s *blockSearch) chooseHalfUnchanged(cs []candidate) blockMatch {
	n := s.record.Span.Len()
	if len(cs) == 0 || n < 2 {
		return noMatch
	}
	best := cs[0]
	k := best.unchanged
	if k.letterShare < halfUnchangedShare && 2*k.count < n {
		return noMatch
	}
	return blockMatch{best.span(), Edited, max(best.similarity, k.letterShare*minSimilarity), unchangedExplanation}
}

// chooseCopiedBlock chooses the copy of the block with the best context. The context must match if there are
// several copies, or if the text of the block may occur by chance.
func (s *blockSearch) chooseCopiedBlock(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	best := cs[0]
	if best.contextScore < minContextScore && !s.isCopyCertain(cs) {
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

// isCopyCertain reports whether the text of the block is enough to find the block, whatever its context is.
func (s *blockSearch) isCopyCertain(cs []candidate) bool {
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

// chooseUniqueCopy chooses the copy of the annotated block if its text is distinctive and occurs exactly once.
func (s *blockSearch) chooseUniqueCopy(cs []candidate) blockMatch {
	if !s.isCopyCertain(cs) {
		return noMatch
	}
	return s.chooseCopiedBlock(cs)
}

// chooseUniqueBlock chooses the copy of the annotated block if its text is distinctive and occurs exactly once. The
// block must have several lines. The copy is rejected if the old text contained another copy that may have become this
// one.
func (s *blockSearch) chooseUniqueBlock(cs []candidate) blockMatch {
	m := s.chooseUniqueCopy(cs)
	if m.placing == Lost || s.record.Span.Len() < 2 {
		return noMatch
	}
	if s.hasRival(cs[0]) {
		return noMatch
	}
	return m
}

// chooseMovedBlock chooses the copy of the annotated block that has the most similar context. Most of the context must
// have moved with the block, or the block must have moved together with adjacent lines.
func (s *blockSearch) chooseMovedBlock(cs []candidate) blockMatch {
	m := s.chooseCopiedBlock(cs)
	if m.placing == Lost {
		return noMatch
	}
	near := s.contextShare(m.span)
	isNear := near >= .65 || (near >= .5 && s.oldVersion.wasMovedInGroup(s.record.Span, m.span))
	if !isNear || s.hasRival(cs[0]) {
		return noMatch
	}
	return m
}

// bestWindow chooses among ranges of lines that are equally similar to the annotated block. It returns a range at the
// position that is most probable for the block. Among several such ranges, it prefers the one with the most lines
// equal to the block's lines, and then the nearest one with the block's number of lines.
func bestWindow(cs []candidate) candidate {
	best := cs[0]
	for _, c := range cs[1:] {
		if c.positionRank == best.positionRank && c.isBetterThan(&best) {
			best = c
		}
	}
	return best
}

// isBetterThan reports whether c is a better candidate than o. Both are possible ranges of the annotated lines, near
// the same assumed position.
func (c *candidate) isBetterThan(o *candidate) bool {
	if c.equalLines != o.equalLines {
		return c.equalLines > o.equalLines
	}
	return c.end-c.start == o.end-o.start && c.distance < o.distance
}

// chooseReplacement chooses the new lines that replaced the annotated block, if they seem to be a new version of the
// block. It chooses nothing if the new lines are more similar to other old lines that were deleted. It also chooses
// nothing if the block is a short line and the lines around it have changed as well.
func (s *blockSearch) chooseReplacement(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestWindow(cs)
	block := s.blockLines()
	isShort := len(block) == 1 && countLetters(block[0]) < minLineLetters
	isVague := isShort && c.similarity < minEqualWordsSimilarity
	if isVague && s.contextShare(c.span()) < minShortLineContext {
		return noMatch
	}
	if s.hasCloserRival(c) {
		return noMatch
	}
	return blockMatch{c.span(), Edited, c.similarity, "similar lines stand in its place"}
}

// chooseSimilarBlock chooses the lines that are most similar to the annotated block. Since similarity is the main
// evidence, it must be high. In addition, the block must be distinctive, or the lines around it must match.
func (s *blockSearch) chooseSimilarBlock(cs []candidate) blockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestWindow(cs)
	isShort := countLetters(s.record.Block...) < distinctiveLetters
	if isShort && s.contextShare(c.span()) < minContextScore {
		return noMatch
	}
	confidence := .9 * c.similarity // The confidence is reduced, because similarity is the only evidence.
	if confidence < minSimilarity {
		return noMatch
	}
	return blockMatch{c.span(), Edited, confidence, "similar lines stand there"}
}

// hasRival reports whether the range c may belong to another copy of the annotated block, which the old text contained
// and the new text has lost. This happens if several copies were merged into one. If the context of a lost copy
// matches the range better than the block's context, the result is true. If the contexts match equally well, it is
// true only if the new text contains fewer such ranges than there were copies.
func (s *blockSearch) hasRival(c candidate) bool {
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

// hasCloserRival reports whether the candidate is more similar to other deleted lines than to the annotated block. It
// examines the old lines that were replaced together with the block.
func (s *blockSearch) hasCloserRival(c candidate) bool {
	was := s.record.Span
	from, to := was.First-1, was.Last
	a, b, _, _ := s.oldVersion.extendToGap(from, to)
	if b-a > maxRivalBlocks {
		return false
	}
	for i := a; i+was.Len() <= b; i++ {
		isRival := i+was.Len() <= from || i >= to
		if isRival &&
			s.newText.newWordBag(s.oldVersion.lines[i:i+was.Len()]).windowSimilarity(c.start, c.end) > c.similarity {
			return true
		}
	}
	return false
}
