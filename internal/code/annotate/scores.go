// This file implements the second step of the search for an annotated block, which consists of the lines that an
// annotation describes. It measures how well each candidate fits. A candidate is a range of lines that may be the block
// in the new text. A score is a share, from 0 to 1, of either the block or its surrounding context.

package annotate

import (
	"cmp"
	"slices"
	"strings"
)

// Thresholds for finding annotated lines in a changed file (see docs/annotations.md).
const (
	// minimum number of letters of a single annotated line that can be found by its text, without its context
	minDistinctiveLineLetters = 40
	// minimum number of letters in a multi-line block that can be found by its text, without its context
	minDistinctiveBlockLetters = 30

	// minimum share of the context that must match if a block is too short to be found by its text
	minContextScore = .34
	// Lines count as an edited version of the annotated block if their similarity to the block is at least this.
	minBlockSimilarity = .5
	minLineSimilarity  = .6 // minimum similarity of a single edited line, which contains only few words
)

// These are minimum shares of an annotated block's letters. At least this share of the letters must be in lines that
// are unchanged in the new file. Letters are counted instead of lines, because lines with few letters, such as braces,
// may occur in the same order by accident.
const (
	minUnchangedBlockLetterShare = .3
	// minLetterShareIfWordsChanged is the minimum share if the words of the block have changed too much for a
	// comparison by words. A block with a smaller share is still found if at least half of its lines are unchanged.
	minLetterShareIfWordsChanged = .5
)

// scoreCandidateContexts computes for each candidate how well the lines around it match the lines around the annotated
// block. It sorts the candidates by this score, the best first.
func (s *annotatedBlockSearch) scoreCandidateContexts(cs []candidateRange) []candidateRange {
	for i := range cs {
		cs[i].contextMatchShare = s.contextMatchShare(cs[i].startLineIndex, cs[i].endLineIndex)
	}
	slices.SortFunc(cs, func(a, b candidateRange) int {
		return cmp.Or(cmp.Compare(b.contextMatchShare, a.contextMatchShare), a.distanceToPosition-b.distanceToPosition)
	})
	return cs
}

// scoreWordSimilarity computes for each candidate how similar its words are to the words of the block. It sorts the
// candidates by this similarity, the best first. Among equally similar candidates, the candidate that was last comes
// first, because it has the most lines. If the whole block is unchanged in the new text, the candidates are returned as
// they are.
func (s *annotatedBlockSearch) scoreWordSimilarity(candidates []candidateRange) []candidateRange {
	if len(candidates) == 0 || candidates[0].unchangedLines.isWholeBlockUnchanged {
		return candidates
	}
	bag := s.newText.newBlockWordComparer(s.blockLines())
	for i := range candidates {
		candidates[i].wordSimilarity = bag.blockSimilarityOf(candidates[i].startLineIndex, candidates[i].endLineIndex)
	}
	slices.Reverse(candidates)
	slices.SortStableFunc(
		candidates,
		func(a, b candidateRange) int { return cmp.Compare(b.wordSimilarity, a.wordSimilarity) },
	)
	return candidates
}

// keepMostSimilarRanges returns the candidates whose words are most similar to the words of the annotated block, in
// their order. The result is empty if no candidate is at least as similar as minBlockSimilarity or, for a block of one
// line, minLineSimilarity. If several candidates are equally similar, keepMostSimilarRanges also sets equalLineCount of
// each. It overwrites the slice candidates.
func (s *annotatedBlockSearch) keepMostSimilarRanges(candidates []candidateRange) []candidateRange {
	block := s.blockLines()
	most := minBlockSimilarity
	if len(block) == 1 {
		most = minLineSimilarity
	}
	bag := s.newText.newBlockWordComparer(block)
	best := candidates[:0]
	for _, c := range candidates {
		c.wordSimilarity = bag.blockSimilarityOf(c.startLineIndex, c.endLineIndex)
		if c.wordSimilarity > most {
			most, best = c.wordSimilarity, best[:0]
		}
		if c.wordSimilarity == most {
			best = append(best, c)
		}
	}
	if len(best) > 1 {
		for i, c := range best {
			best[i].equalLineCount = countLinesEqualByIndex(block, s.newText.lines[c.startLineIndex:c.endLineIndex])
		}
	}
	return best
}

// areDistinctiveLines reports whether the lines have enough letters to be found by their text alone.
func areDistinctiveLines(lines []string) bool {
	n := countLetters(lines...)
	return n >= minDistinctiveLineLetters || (len(lines) > 1 && n >= minDistinctiveBlockLetters)
}

// Limits of [oldVersion.isBlockPositionCertain].
const (
	// The position of an unchanged block is certain if the block and the unchanged lines next to it have at least this
	// many letters in total.
	minLettersForSurePosition = 30
	// confidence in the position of an unchanged block, if the block and the unchanged lines next to it have fewer
	// than minLettersForSurePosition letters
	shortBlockConfidence = .6
)

// isBlockPositionCertain reports whether a block that is unchanged in the new text can be located with certainty. The
// block and the unchanged lines next to it must have at least minLettersForSurePosition letters. In a file of fewer
// than 2*ContextLines lines, the position is always certain.
func (f *oldVersion) isBlockPositionCertain(oldSpan LineSpan) bool {
	from, to := oldSpan.First-1, oldSpan.Last
	n := countLetters(f.lines[from:to]...)
	along := func(i, step int) {
		for k := 0; k < ContextLines && i >= 0 && i < len(f.newIndexByOldLine) && i-step >= 0 &&
			f.newIndexByOldLine[i] >= 0 &&
			f.newIndexByOldLine[i] == f.newIndexByOldLine[i-step]+step; k++ {
			n += countLetters(f.lines[i])
			i += step
		}
	}
	along(from-1, -1)
	along(to, 1)
	return n >= minLettersForSurePosition || len(f.lines) < 2*ContextLines
}

// enclosingLineWeight is the weight, in contextMatchShare, of all lines that enclose the annotated block, such as a
// function's first line. It is the weight of these lines together. Each of the two lines next to the block has weight
// 1.
const enclosingLineWeight = 1.5

// contextMatchShare compares the block's context with the lines around a range of the new text. The range begins at the
// line index first and ends before the line index end. contextMatchShare returns the share, from 0 to 1, of the context
// that is also around the range. Nearer lines have more weight. The beginning and the end of the file count as lines.
func (s *annotatedBlockSearch) contextMatchShare(first, end int) float64 {
	r, p := s.record, s.newText
	got, all := 0.0, 0.0
	line := func(w float64, want []string, k int, at int) {
		w /= float64(k + 1)
		all += w
		isInText := at >= 0 && at < len(p.lines)
		isSameLine := isInText && k < len(want) && p.lines[at] == want[k]
		// the old text and the new text both begin or end at this distance from the annotated lines
		isSameEdge := !isInText && k >= len(want)
		if isSameLine || isSameEdge {
			got += w
		}
	}
	before := slices.Clone(r.LinesBefore)
	slices.Reverse(before)
	for k := range ContextLines {
		line(1, before, k, first-1-k)
		line(1, r.LinesAfter, k, end+k)
	}
	if len(r.EnclosingLines) > 0 {
		same, of := s.countSameEnclosingLines(first)
		got, all = got+enclosingLineWeight*float64(same)/float64(of), all+enclosingLineWeight
	}
	return got / all
}

// matchingContextShare returns the share of the annotated block's context that is also around the lines newSpan. The
// context consists of the lines before the block, the lines after the block, and the lines that enclose the block. The
// order of the lines and white space are ignored.
func (s *annotatedBlockSearch) matchingContextShare(newSpan LineSpan) float64 {
	r, p := s.record, s.newText
	got, all := 0, 0
	side := func(want []string, from, to int) {
		have := p.spacelessLineSet(from, to)
		for _, l := range want {
			if b := removeAllSpace(l); b != "" {
				all++
				if have[b] {
					got++
				}
			}
		}
	}
	side(r.LinesBefore, newSpan.First-1-ContextLines, newSpan.First-1)
	side(r.LinesAfter, newSpan.Last, newSpan.Last+ContextLines)
	same, of := s.countSameEnclosingLines(newSpan.First - 1)
	got, all = got+same, all+of
	if all == 0 {
		return 0
	}
	return float64(got) / float64(all)
}

// countSameEnclosingLines compares the lines that enclose the block with the lines that enclose the line at index
// firstLineIndex in the new text. same is the number of lines that enclose both, and total is the number of lines that
// enclose the block. Indentation is ignored.
func (s *annotatedBlockSearch) countSameEnclosingLines(firstLineIndex int) (same, total int) {
	r, p := s.record, s.newText
	if len(r.EnclosingLines) == 0 || firstLineIndex >= len(p.lines) {
		return 0, len(r.EnclosingLines)
	}
	at := p.enclosingLineIndex(firstLineIndex)
	for n := 0; at >= 0 && n < maxReturnedEnclosingLines && firstLineIndex-at <= maxEnclosingLineDistance; n++ {
		l := strings.TrimSpace(p.lines[at])
		for _, want := range r.EnclosingLines {
			if strings.TrimSpace(want) == l {
				same++
				break
			}
		}
		at = p.enclosingLineIndex(at)
	}
	return min(same, len(r.EnclosingLines)), len(r.EnclosingLines)
}

// computeBlockLetterShare returns the share of the annotated lines that also occurs in a span in the new text. The
// result is the share of letters in equal lines, where white space is ignored.
func (s *annotatedBlockSearch) computeBlockLetterShare(newSpan LineSpan) float64 {
	have := s.newText.spacelessLineSet(newSpan.First-1, newSpan.Last)
	got, all := 0, 0
	for _, l := range s.record.Block {
		n := countLetters(l) + 1 // Add 1, so that lines without letters also count.
		all += n
		if have[removeAllSpace(l)] {
			got += n
		}
	}
	return float64(got) / float64(all)
}

// countLinesEqualByIndex returns the number of indexes at which a and b have the same line. Lines that differ only in
// white space count as the same.
func countLinesEqualByIndex(a, b []string) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] || removeAllSpace(a[i]) == removeAllSpace(b[i]) {
			n++
		}
	}
	return n
}

// wasMovedInLineGroup reports whether the annotated block was moved to newSpan as part of a larger line group. The
// group must have at least two lines and enough letters. In the diff, each of its lines must be deleted at the old
// position and added at the new position. White space is ignored.
func (f *oldVersion) wasMovedInLineGroup(oldSpan, newSpan LineSpan) bool {
	p := f.newText
	o, n := oldSpan.First-1, newSpan.First-1
	same := func(k int) bool {
		i, j := o+k, n+k
		return i >= 0 && i < len(f.lines) && j >= 0 && j < len(p.lines) && f.newIndexByOldLine[i] < 0 &&
			!f.hasOldLine[j] &&
			removeAllSpace(f.lines[i]) == removeAllSpace(p.lines[j])
	}
	lo, hi := 0, newSpan.Len()
	for hi-lo < maxLinesMovedTogether && same(lo-1) {
		lo--
	}
	for hi-lo < maxLinesMovedTogether && same(hi) {
		hi++
	}
	return hi-lo > 1 && countLetters(f.lines[o+lo:o+hi]...) >= minDistinctiveBlockLetters
}

// These limits keep the comparison of a block with other lines fast.
const (
	maxLinesMovedTogether = 1000 // maximum number of lines in a group of lines that was moved together
	// If more lines than this were replaced together with the block, a candidate is not compared with the remaining
	// deleted lines among these lines. A candidate is a range of lines that may be the block in the new text.
	maxComparedDeletedLines = 100
)
