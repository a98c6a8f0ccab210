// This file implements the first step in finding a block: it searches the text for line ranges in which the block may
// be. Such a range is called a candidate. It contains unchanged lines of the old version, or the block's lines, or
// similar lines.

package annotate

import (
	"cmp"
	"maps"
	"slices"
)

// findBlockCopies returns all ranges of the new text that contain exactly the same lines as the annotated block.
func (s *annotatedBlockSearch) findBlockCopies() []candidateRange {
	return s.blockCopiesOutsideLines(nil)
}

// findNewBlockCopies returns the ranges with the same lines as the block, but only ranges of new lines, which the old
// version does not have. The lines of a moved block count as new at their new position.
func (s *annotatedBlockSearch) findNewBlockCopies() []candidateRange {
	return s.blockCopiesOutsideLines(s.oldVersion.hasOldLine)
}

// blockCopiesOutsideLines returns the ranges in the new text that are copies of the annotated lines. It leaves out each
// range that contains a line i for which excludedLines[i] is true. excludedLines may be nil.
func (s *annotatedBlockSearch) blockCopiesOutsideLines(excludedLines []bool) []candidateRange {
	r, p := s.record, s.newText
	n := len(r.Block) + r.OmittedBlockLines
	if n == 0 || n > len(p.lines) {
		return nil
	}
	head := r.Block
	var tail []string
	if r.OmittedBlockLines > 0 {
		head, tail = r.Block[:len(r.Block)/2], r.Block[len(r.Block)/2:]
	}
	// Search for the rarest line of the block first.
	rare, least := 0, -1
	for i, l := range head {
		id, ok := p.numberer.lineIDs[l]
		if !ok {
			return nil
		}
		if c := len(p.lineOccurrences.positionsOfLineID(id)); least < 0 || c < least {
			rare, least = i, c
		}
	}
	var out []candidateRange
	for _, at := range p.lineOccurrences.positionsOfLineID(p.numberer.lineIDs[head[rare]]) {
		first := int(at) - rare
		if !s.hasBlockCopyAt(first, head, tail) {
			continue
		}
		if excludedLines != nil && slices.Contains(excludedLines[first:first+n], true) {
			continue
		}
		out = append(
			out,
			candidateRange{
				startLineIndex:     first,
				endLineIndex:       first + n,
				distanceToPosition: countLinesApart(first, r.Span.First-1),
			},
		)
	}
	return out
}

// hasBlockCopyAt reports whether a copy of the annotated block begins at the line index firstLineIndex in the new text.
// The slice firstLines contains the first lines of the block.
//
// A long block is stored without its middle, and s.record.OmittedBlockLines is then the number of lines in the middle.
// In this case, the slice lastLines contains the last lines of the block, and a hash of all lines is compared as well.
// Otherwise lastLines is empty.
func (s *annotatedBlockSearch) hasBlockCopyAt(firstLineIndex int, firstLines, lastLines []string) bool {
	r, lines := s.record, s.newText.lines
	end := firstLineIndex + len(r.Block) + r.OmittedBlockLines
	if firstLineIndex < 0 || end > len(lines) {
		return false
	}
	if !slices.Equal(lines[firstLineIndex:firstLineIndex+len(firstLines)], firstLines) ||
		!slices.Equal(lines[end-len(lastLines):end], lastLines) {
		return false
	}
	return r.OmittedBlockLines == 0 || hashLines(lines[firstLineIndex:end]) == r.BlockHash
}

// describeUnchangedLines describes how many lines of a block still exist in the new text. The argument oldSpan is the
// position of the block in the old version f. Lines that differ only in white space count as unchanged. The result
// contains the number of unchanged lines, their share of the block's letters, and the indexes of the first and last
// unchanged line in the new text.
func (f *oldVersion) describeUnchangedLines(oldSpan LineSpan) *unchangedBlockLines {
	k := &unchangedBlockLines{firstIndexInNewText: -1, lastIndexInNewText: -1}
	from, to := oldSpan.First-1, oldSpan.Last
	exact := 0
	got := 0
	all := 0
	for i := from; i < to; i++ {
		n := countLetters(f.lines[i])
		all += n
		t := f.findNewIndexIgnoringSpace(i)
		if t < 0 {
			continue
		}
		if k.firstIndexInNewText < 0 {
			k.firstIndexInNewText, k.linesBefore = t, i-from
		}
		k.lastIndexInNewText, k.linesAfter = t, to-1-i
		k.unchangedLineCount++
		got += n
		if f.newIndexByOldLine[i] >= 0 {
			exact++
		}
	}
	k.isWholeBlockUnchanged = exact == to-from && k.lastIndexInNewText-k.firstIndexInNewText == exact-1
	k.unchangedLetterShare = 1
	if all > 0 {
		k.unchangedLetterShare = float64(got) / float64(all)
	}
	return k
}

// findUnchangedLineRanges returns ranges of lines in the new text that may be the block. Each range contains all
// unchanged lines of the block. It returns no range if too few lines are unchanged.
//
// If the first lines of the block have changed, it is not known where the block begins now. There are then ranges with
// several beginnings: the first unchanged line, and some lines earlier, but not above the nearest unchanged line
// outside the block. In the same way, there are several ends if the last lines have changed.
func (s *annotatedBlockSearch) findUnchangedLineRanges() []candidateRange {
	was := s.record.Span
	k := s.oldVersion.describeUnchangedLines(was)
	if k.isWholeBlockUnchanged {
		return []candidateRange{
			{startLineIndex: k.firstIndexInNewText, endLineIndex: k.lastIndexInNewText + 1, unchangedLines: k},
		}
	}
	if k.areTooFewToFindBlock(was) {
		return nil
	}
	var out []candidateRange
	for _, first := range s.oldVersion.possibleBlockStarts(was, k) {
		for _, end := range s.oldVersion.possibleBlockEnds(was, k) {
			out = append(out, candidateRange{startLineIndex: first, endLineIndex: end, unchangedLines: k})
		}
	}
	return out
}

// areTooFewToFindBlock reports whether the unchanged lines in k are not enough to find the block in the new text. The
// unchanged lines are not enough if they are too few, or if they are too far apart. The argument oldSpan is the block's
// position in the old version.
func (k *unchangedBlockLines) areTooFewToFindBlock(oldSpan LineSpan) bool {
	return k.unchangedLineCount == 0 || k.unchangedLetterShare < minUnchangedBlockLetterShare ||
		k.lastIndexInNewText-k.firstIndexInNewText >= 4*oldSpan.Len()+20
}

// possibleBlockStarts returns the indexes of the lines in the new text at which the annotated block may begin. The
// first unchanged line of the block has the index k.firstIndexInNewText. No returned index is greater, because the
// block contains all its unchanged lines.
func (f *oldVersion) possibleBlockStarts(oldSpan LineSpan, k *unchangedBlockLines) []int {
	if k.linesBefore == 0 {
		return []int{k.firstIndexInNewText}
	}
	limit := 0 // index of the line after the last unchanged line above the block
	for i := oldSpan.First - 2; i >= 0; i-- {
		if t := f.findNewIndexIgnoringSpace(i); t >= 0 {
			limit = t + 1
			break
		}
	}
	// The line above the block is unchanged, so all lines between that line and the block's unchanged lines belong to
	// the block.
	if oldSpan.First > 1 && f.findNewIndexIgnoringSpace(oldSpan.First-2) >= 0 {
		return []int{max(limit, k.firstIndexInNewText-2*oldSpan.Len())}
	}
	return []int{k.firstIndexInNewText, max(limit, k.firstIndexInNewText-k.linesBefore)}
}

// possibleBlockEnds returns the possible ends of the annotated block in the new text. An end is the index of the first
// line after the block. The argument oldSpan contains the numbers of the block's lines in the old text, and k describes
// which of these lines are unchanged in the new text. All returned ends are after the last unchanged line.
func (f *oldVersion) possibleBlockEnds(oldSpan LineSpan, k *unchangedBlockLines) []int {
	end := k.lastIndexInNewText + 1
	if k.linesAfter == 0 {
		return []int{end}
	}
	limit := len(f.newText.lines) // index of the first unchanged line below the block
	for i := oldSpan.Last; i < len(f.cachedIndexIgnoringSpace); i++ {
		if t := f.findNewIndexIgnoringSpace(i); t >= 0 {
			limit = t
			break
		}
	}
	if oldSpan.Last < len(f.cachedIndexIgnoringSpace) &&
		// The line below the block is unchanged, so the block reaches to that line.
		f.findNewIndexIgnoringSpace(oldSpan.Last) >= 0 {
		return []int{min(limit, end+2*oldSpan.Len())}
	}
	return []int{end, min(limit, end+k.linesAfter)}
}

// findBlockReplacements returns ranges of lines in the new text that may be the new version of the annotated lines.
// These ranges are parts of the new lines that replaced the annotated lines and the changed lines next to them. The
// result is valid only until the next search, because its memory is reused.
func (s *annotatedBlockSearch) findBlockReplacements() []candidateRange {
	was := s.record.Span
	_, _, lo, hi := s.oldVersion.findWholeGap(was.First-1, was.Last)
	s.reusedCandidates = appendCandidateRanges(
		s.reusedCandidates[:0],
		was.Len(),
		lo,
		hi,
		candidateRange{startLineIndex: lo},
	)
	return s.reusedCandidates
}

// appendCandidateRanges appends to out all ranges of certain lengths between two lines. The lengths are lineCount,
// about a third more, and about a third less. The ranges begin at the line index firstStart or later, and end before
// the line index lastStart. If even the range at firstStart is too long, it is shortened.
//
// The argument assumedPosition is the assumed position of the annotated lines. Each range gets its rank, and the
// distance between the range and this position. If there are no lines between firstStart and lastStart, or more than
// 8*lineCount+40, appendCandidateRanges returns out unchanged.
func appendCandidateRanges(
	out []candidateRange,
	lineCount, firstStart, lastStart int,
	assumedPosition candidateRange,
) []candidateRange {
	if lastStart <= firstStart || lastStart-firstStart > 8*lineCount+40 {
		return out
	}
	for _, size := range []int{lineCount, lineCount + lineCount/3 + 1, max(1, lineCount-lineCount/3)} {
		for first := firstStart; first == firstStart || first+size <= lastStart; first++ {
			out = append(
				out,
				candidateRange{
					startLineIndex:      first,
					endLineIndex:        min(first+size, lastStart),
					assumedPositionRank: assumedPosition.assumedPositionRank,
					distanceToPosition:  countLinesApart(first, assumedPosition.startLineIndex),
				},
			)
		}
	}
	return out
}

// Limits of the search in [annotatedBlockSearch.findSimilarRanges].
const (
	// A line in the annotated block votes for a position of the block only if it occurs at most this often in the text.
	maxVotingLineOccurrences  = 20
	maxExaminedBlockPositions = 4 // number of positions, those with the most votes, that are examined
)

// findSimilarRanges returns ranges around the most probable positions of the block. It searches the new text for each
// line of the block and of the block's context, and ignores white space. Each occurrence of a line votes for one
// position: the line at which the block would begin if this occurrence belongs to the block. The result is valid until
// the next search.
func (s *annotatedBlockSearch) findSimilarRanges() []candidateRange {
	votes := s.countBlockPositionVotes()
	places := slices.SortedFunc(maps.Keys(votes), func(a, b int) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), a-b)
	})
	n := len(s.record.Block) + s.record.OmittedBlockLines
	out := s.reusedCandidates[:0]
	for i, at := range places[:min(len(places), maxExaminedBlockPositions)] {
		lo, hi := max(0, at-2), min(len(s.newText.lines), at+n+2)
		// The middle of a long block is not in the record. Try only one range, with two more lines at each end.
		if s.record.OmittedBlockLines > 0 && lo < hi {
			out = append(out, candidateRange{startLineIndex: lo, endLineIndex: hi, assumedPositionRank: i})
		} else {
			out = appendCandidateRanges(out, n, lo, hi, candidateRange{startLineIndex: at, assumedPositionRank: i})
		}
	}
	s.reusedCandidates = out
	return out
}

// countBlockPositionVotes searches the new text for the place to which the annotated block has moved. It looks up each
// line of the block, and of the lines around the block, in the new text. For each occurrence, it computes where the
// block would begin if the block had moved together with this line, and adds a vote for this position. The result
// contains the sum of the votes for each position of the block's first line.
//
// The votes of a line have the sum 1, so a line with several occurrences divides its weight among them. White space is
// ignored. Lines with few letters or with too many occurrences do not vote.
func (s *annotatedBlockSearch) countBlockPositionVotes() map[int]float64 {
	r, p := s.record, s.newText
	bare := p.lineOccurrencesIgnoringSpace()
	votes := map[int]float64{}
	vote := func(lines []string, shift int) {
		for i, l := range lines {
			b := removeAllSpace(l)
			if countLetters(b) < 3 {
				continue
			}
			id, ok := p.numberer.spacelessLineIDs[b]
			if !ok {
				continue
			}
			at := bare.positionsOfLineID(id)
			if len(at) > maxVotingLineOccurrences {
				continue
			}
			for _, a := range at {
				votes[int(a)-i-shift] += 1 / float64(len(at))
			}
		}
	}
	vote(r.LinesBefore, -len(r.LinesBefore))
	vote(r.LinesAfter, len(r.Block)+r.OmittedBlockLines)
	half := len(r.Block)
	if r.OmittedBlockLines > 0 {
		half /= 2
	}
	vote(r.Block[:half], 0)
	vote(r.Block[half:], half+r.OmittedBlockLines)
	return votes
}

// countLinesApart returns how many lines a and b are apart.
func countLinesApart(a, b int) int { return max(a-b, b-a) }
