// This file implements the last step in finding a block: it chooses one of the scored candidates, or none.

package annotate

// These limits apply if the annotation explains a single line and the words of this line have changed.
const (
	// A line with fewer letters is short: it may look like many other lines in the file by chance.
	minLineLetters           = 20
	minShortLineContextShare = .25 // minimum share of the lines around a short line that must be unchanged
	minEqualWordsSimilarity  = .95 // similarity from which a line counts as changed only in punctuation or white space
)

// unchangedLinesExplanation tells a person how a changed block was found by its unchanged lines.
const unchangedLinesExplanation = "followed through the changes of the file since, which changed the block too"

// chooseByUnchangedLines returns the first candidate as a match if the whole block is unchanged in it, or if its words
// are similar enough to the words of the block. Otherwise it returns noMatch. The candidates must be sorted, the best
// first, and must all contain the same unchanged lines of the block.
func (s *annotatedBlockSearch) chooseByUnchangedLines(cs []candidateRange) annotatedBlockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	best := cs[0]
	if best.unchangedLines.isWholeBlockUnchanged {
		return s.matchUnchangedBlock(best)
	}
	if best.wordSimilarity < minBlockSimilarity {
		return noMatch
	}
	return annotatedBlockMatch{best.lineSpan(), PlacedAfterEdit, best.wordSimilarity, unchangedLinesExplanation}
}

// matchUnchangedBlock returns the match for a block whose lines are all unchanged.
func (s *annotatedBlockSearch) matchUnchangedBlock(c candidateRange) annotatedBlockMatch {
	m := annotatedBlockMatch{c.lineSpan(), PlacedByTracking, .99, "followed through the changes of the file since"}
	if m.span == s.record.Span {
		m.placementKind = PlacedExactly
	}
	if !s.oldVersion.isBlockPositionCertain(s.record.Span) {
		m.positionConfidence = shortBlockConfidence
		m.explanation += "; it is short, and the lines around it are others"
	}
	return m
}

// chooseMostlyUnchangedBlock returns the first candidate as a match, if enough of the block is unchanged. At least half
// of the block's lines must be unchanged, or the share of the letters in unchanged lines must be at least
// minLetterShareIfWordsChanged. The words may be less similar than [minBlockSimilarity] requires, because the unchanged
// lines are sufficient evidence. The candidates must be sorted, the best first.
//
// chooseMostlyUnchangedBlock returns noMatch if too little is unchanged, if there is no candidate, or if the block has
// only one line.
func (s *annotatedBlockSearch) chooseMostlyUnchangedBlock(candidates []candidateRange) annotatedBlockMatch {
	n := s.record.Span.Len()
	if len(candidates) == 0 || n < 2 {
		return noMatch
	}
	best := candidates[0]
	k := best.unchangedLines
	if k.unchangedLetterShare < minLetterShareIfWordsChanged && 2*k.unchangedLineCount < n {
		return noMatch
	}
	return annotatedBlockMatch{
		best.lineSpan(),
		PlacedAfterEdit,
		max(best.wordSimilarity, k.unchangedLetterShare*minBlockSimilarity),
		unchangedLinesExplanation,
	}
}

// chooseBlockCopyByContext returns the first candidate as a match, if the lines around it match the lines around the
// block well enough. Each candidate is a copy of the block in the new text. The candidates must be sorted by
// contextMatchShare, the best first. If the lines around the first candidate do not match, it is a match only if it is
// the only copy and its text is too distinctive to occur by chance. Otherwise chooseBlockCopyByContext returns noMatch.
func (s *annotatedBlockSearch) chooseBlockCopyByContext(cs []candidateRange) annotatedBlockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	best := cs[0]
	if best.contextMatchShare < minContextScore && !s.isBlockCopyCertain(cs) {
		return noMatch
	}
	confidence := .8 + .18*best.contextMatchShare
	how := "by its text and " + describeShare(best.contextMatchShare) + " of the lines around it"
	if len(cs) > 1 && cs[1].contextMatchShare == best.contextMatchShare {
		confidence = .6
		how += "; other places are as good, and this one is the nearest"
	} else if len(cs) > 1 {
		confidence = min(confidence, .7+.3*(best.contextMatchShare-cs[1].contextMatchShare))
	}
	m := annotatedBlockMatch{best.lineSpan(), PlacedAfterMove, confidence, how}
	if m.span == s.record.Span {
		m.placementKind = PlacedExactly
	}
	return m
}

// isBlockCopyCertain reports whether the text of the block is enough to find the block, whatever its context is.
func (s *annotatedBlockSearch) isBlockCopyCertain(cs []candidateRange) bool {
	return len(cs) == 1 && areDistinctiveLines(s.record.Block)
}

func describeShare(f float64) string {
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

// chooseUniqueCopy chooses the copy of the annotated block if the block has only one copy and its text is distinctive.
// It returns noMatch otherwise.
func (s *annotatedBlockSearch) chooseUniqueCopy(cs []candidateRange) annotatedBlockMatch {
	if !s.isBlockCopyCertain(cs) {
		return noMatch
	}
	return s.chooseBlockCopyByContext(cs)
}

// chooseUniqueBlockCopy returns the only candidate in cs if the annotated block is distinctive and occurs exactly once
// in the new text. Otherwise it returns noMatch. It also returns noMatch if the block has only one line, or if the old
// text contained the block twice and the candidate may come from the other copy.
func (s *annotatedBlockSearch) chooseUniqueBlockCopy(cs []candidateRange) annotatedBlockMatch {
	m := s.chooseUniqueCopy(cs)
	if m.placementKind == NotPlaced || s.record.Span.Len() < 2 {
		return noMatch
	}
	if s.mayBelongToLostBlockCopy(cs[0]) {
		return noMatch
	}
	return m
}

// chooseMovedBlock returns the first candidate as a match, if the block has probably moved there. The candidates are
// copies of the block, sorted by contextMatchShare, the best first. At least 65 % of the lines around the block must
// have moved with the block, or at least 50 % if the block moved together with adjacent lines. chooseMovedBlock returns
// noMatch if too few lines have moved with the block, or if the candidate may come from another copy of the block in
// the old text.
func (s *annotatedBlockSearch) chooseMovedBlock(cs []candidateRange) annotatedBlockMatch {
	m := s.chooseBlockCopyByContext(cs)
	if m.placementKind == NotPlaced {
		return noMatch
	}
	near := s.matchingContextShare(m.span)
	isNear := near >= .65 || (near >= .5 && s.oldVersion.wasMovedInLineGroup(s.record.Span, m.span))
	if !isNear || s.mayBelongToLostBlockCopy(cs[0]) {
		return noMatch
	}
	return m
}

// bestSimilarRange returns the best of several ranges of lines that are equally similar to the annotated block. The
// first element of the list candidates must have the most probable position for the block. bestSimilarRange ignores the
// ranges with a different assumedPositionRank, because their positions are less probable. Of the other ranges, it
// prefers the range with the most lines equal to the block's lines, and then the nearest range that has as many lines
// as the block.
func bestSimilarRange(candidates []candidateRange) candidateRange {
	best := candidates[0]
	for _, c := range candidates[1:] {
		if c.assumedPositionRank == best.assumedPositionRank && c.isBetterThan(&best) {
			best = c
		}
	}
	return best
}

// isBetterThan reports whether the range c fits the annotated lines better than the range o. The range with more equal
// lines is better. If both have equally many, c is better only if both ranges have the same length and c is closer to
// the assumed position.
func (c *candidateRange) isBetterThan(o *candidateRange) bool {
	if c.equalLineCount != o.equalLineCount {
		return c.equalLineCount > o.equalLineCount
	}
	return c.endLineIndex-c.startLineIndex == o.endLineIndex-o.startLineIndex &&
		c.distanceToPosition < o.distanceToPosition
}

// chooseBlockReplacement chooses one of the candidates cs, which are ranges of new lines. It chooses the range that is
// most similar to the annotated block, because this range is probably the block's new version. It returns noMatch in
// three cases:
//   - There is no candidate.
//   - The range is more similar to other old lines that were deleted than to the block.
//   - The block is a single line with fewer than minLineLetters letters, the similarity of its words is below
//     minEqualWordsSimilarity, and the share of unchanged lines around it is below minShortLineContextShare. Such a
//     short line may resemble the range by chance.
func (s *annotatedBlockSearch) chooseBlockReplacement(cs []candidateRange) annotatedBlockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestSimilarRange(cs)
	block := s.blockLines()
	isShort := len(block) == 1 && countLetters(block[0]) < minLineLetters
	isVague := isShort && c.wordSimilarity < minEqualWordsSimilarity
	if isVague && s.matchingContextShare(c.lineSpan()) < minShortLineContextShare {
		return noMatch
	}
	if s.isCloserToOtherOldLines(c) {
		return noMatch
	}
	return annotatedBlockMatch{c.lineSpan(), PlacedAfterEdit, c.wordSimilarity, "similar lines stand in its place"}
}

// chooseSimilarBlock chooses the lines that are most similar to the annotated block. Since similarity is the main
// evidence, it must be high. In addition, the block must be distinctive, or the lines around it must match.
func (s *annotatedBlockSearch) chooseSimilarBlock(cs []candidateRange) annotatedBlockMatch {
	if len(cs) == 0 {
		return noMatch
	}
	c := bestSimilarRange(cs)
	isShort := countLetters(s.record.Block...) < minDistinctiveLineLetters
	if isShort && s.matchingContextShare(c.lineSpan()) < minContextScore {
		return noMatch
	}
	confidence := .9 * c.wordSimilarity // The confidence is reduced, because similarity is the main evidence.
	if confidence < minBlockSimilarity {
		return noMatch
	}
	return annotatedBlockMatch{c.lineSpan(), PlacedAfterEdit, confidence, "similar lines stand there"}
}

// mayBelongToLostBlockCopy reports whether the range c of the new text may come from a lost copy of the annotated
// block. The old text may contain several copies of the block. A copy is lost if the new text does not contain it any
// more, for example because several copies were merged into one. mayBelongToLostBlockCopy compares the lines around c
// with the lines around the annotated block and around each lost copy:
//
//   - If a lost copy matches better than the annotated block, the result is true.
//   - If all lost copies match less well than the annotated block, the result is false.
//   - Otherwise some lost copies match equally well. The result is true if the new text has too few copies for all of
//     these and the annotated block. Only those new copies count that match the annotated block as well as c does.
func (s *annotatedBlockSearch) mayBelongToLostBlockCopy(c candidateRange) bool {
	f := s.oldVersion
	if f.indexedOldText == nil {
		f.indexedOldText = newIndexedText(s.newText.numberer, f.lines)
	}
	equal := 1
	old := annotatedBlockSearch{newText: f.indexedOldText, record: s.record}
	for _, o := range old.findBlockCopies() {
		copied := Record{Span: o.lineSpan()}
		if copied.Span == s.record.Span || f.newIndexByOldLine[o.startLineIndex] >= 0 {
			continue
		}
		if !copied.SetLines(f.lines) {
			continue
		}
		other := annotatedBlockSearch{newText: s.newText, record: &copied}
		switch context := other.contextMatchShare(c.startLineIndex, c.endLineIndex); {
		case context > c.contextMatchShare:
			return true
		case context == c.contextMatchShare:
			equal++
		}
	}
	if equal == 1 {
		return false
	}
	for _, o := range s.scoreCandidateContexts(s.findNewBlockCopies()) {
		if o.contextMatchShare == c.contextMatchShare {
			equal--
		}
	}
	return equal > 0
}

// isCloserToOtherOldLines reports whether the candidate c is more similar to other lines in the old version than to the
// annotated block. It compares the candidate with the lines that were deleted together with the block. It returns false
// if more than maxComparedDeletedLines lines were deleted, because the comparison would be slow.
func (s *annotatedBlockSearch) isCloserToOtherOldLines(c candidateRange) bool {
	was := s.record.Span
	from, to := was.First-1, was.Last
	a, b, _, _ := s.oldVersion.findWholeGap(from, to)
	if b-a > maxComparedDeletedLines {
		return false
	}
	for i := a; i+was.Len() <= b; i++ {
		isRival := i+was.Len() <= from || i >= to
		if isRival &&
			s.newText.newBlockWordComparer(s.oldVersion.lines[i:i+was.Len()]).
				blockSimilarityOf(c.startLineIndex, c.endLineIndex) >
				c.wordSimilarity {
			return true
		}
	}
	return false
}
