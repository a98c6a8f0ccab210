// This file finds the present position of a block in a text. It tries several methods, the most certain first. Each
// method has three steps: candidates.go finds ranges of lines, scores.go measures how well they fit, and choice.go
// chooses one range or none.

package annotate

import "slices"

// annotatedBlockSearchMethod is a method to find the lines of an annotation in a new text. Its functions find possible
// positions, score these positions, and choose the best position.
type annotatedBlockSearchMethod struct {
	findCandidates  func(*annotatedBlockSearch) []candidateRange
	scoreCandidates func(*annotatedBlockSearch, []candidateRange) []candidateRange
	chooseMatch     func(*annotatedBlockSearch, []candidateRange) annotatedBlockMatch
}

// These are methods to find an annotated block in a new text. oldVersionSearchMethods contains the methods for the
// case that the old version of the file, in which the block was annotated, is available. textOnlySearchMethods contains
// the methods that need only the text of the block. In both lists, the most certain method is first. copySearchMethod
// and uniqueCopySearchMethod search for copies of the block. copySearchMethod chooses among several copies by the lines
// around them, and uniqueCopySearchMethod needs a unique copy.
var (
	oldVersionSearchMethods = []annotatedBlockSearchMethod{
		{
			(*annotatedBlockSearch).findUnchangedLineRanges,
			(*annotatedBlockSearch).scoreWordSimilarity,
			(*annotatedBlockSearch).chooseByUnchangedLines,
		},
		{
			(*annotatedBlockSearch).findNewBlockCopies,
			(*annotatedBlockSearch).scoreCandidateContexts,
			(*annotatedBlockSearch).chooseMovedBlock,
		},
		{
			(*annotatedBlockSearch).findBlockCopies,
			(*annotatedBlockSearch).scoreCandidateContexts,
			(*annotatedBlockSearch).chooseUniqueBlockCopy,
		},
		{
			(*annotatedBlockSearch).findUnchangedLineRanges,
			(*annotatedBlockSearch).scoreWordSimilarity,
			(*annotatedBlockSearch).chooseMostlyUnchangedBlock,
		},
		{
			(*annotatedBlockSearch).findBlockReplacements,
			(*annotatedBlockSearch).keepMostSimilarRanges,
			(*annotatedBlockSearch).chooseBlockReplacement,
		},
	}
	textOnlySearchMethods = []annotatedBlockSearchMethod{
		copySearchMethod,
		{
			(*annotatedBlockSearch).findSimilarRanges,
			(*annotatedBlockSearch).keepMostSimilarRanges,
			(*annotatedBlockSearch).chooseSimilarBlock,
		},
	}
	copySearchMethod = annotatedBlockSearchMethod{
		(*annotatedBlockSearch).findBlockCopies,
		(*annotatedBlockSearch).scoreCandidateContexts,
		(*annotatedBlockSearch).chooseBlockCopyByContext,
	}
	uniqueCopySearchMethod = annotatedBlockSearchMethod{
		(*annotatedBlockSearch).findBlockCopies,
		(*annotatedBlockSearch).scoreCandidateContexts,
		(*annotatedBlockSearch).chooseUniqueCopy,
	}
)

// runMethod searches for the block by one method.
func (s *annotatedBlockSearch) runMethod(method annotatedBlockSearchMethod) annotatedBlockMatch {
	return method.chooseMatch(s, method.scoreCandidates(s, method.findCandidates(s)))
}

// changedBlockConfidence reduces the confidence that a changed block is the annotated one, if almost no line is
// unchanged. With this factor, a confidence of .5 or more always means that some lines in the block are unchanged.
const changedBlockConfidence = .49

// findBlock returns the most probable position of the record's block in the new text. The argument contentBlobName is
// git's name for the new text. findBlock returns noMatch for a record without lines, and for a record about an empty
// file that is still empty.
//
// If the file has not changed since the record was written, findBlock returns the old position. Otherwise it tries
// several methods in order, and uses the first method that finds a position. If the old version of the file is known
// and contains the block, the methods compare the old version with the new text. If the old version is not known, they
// only search the new text for the lines of the block.
func (s *annotatedBlockSearch) findBlock(contentBlobName string) annotatedBlockMatch {
	r := s.record
	isEmptyFile := r.Span.Len() == 0 && len(s.newText.lines) == 0
	if len(r.Block) == 0 || isEmptyFile {
		return noMatch
	}
	isSameFile := r.FileBlobName != "" && r.FileBlobName == contentBlobName
	if isSameFile && r.isBlockUnchangedIn(s.newText.lines) {
		return annotatedBlockMatch{r.Span, PlacedExactly, 1, "the file is as it was then"}
	}
	ways := oldVersionSearchMethods
	if s.oldVersion != nil && r.isBlockUnchangedIn(s.oldVersion.lines) {
		s.oldVersion.mapOldAndNewLines()
	} else {
		s.oldVersion, ways = nil, textOnlySearchMethods
	}
	m := noMatch
	for _, w := range ways {
		candidates := w.scoreCandidates(s, w.findCandidates(s))
		m = w.chooseMatch(s, candidates)
		if m.placementKind != NotPlaced {
			break
		}
	}
	if m.placementKind == PlacedAfterEdit && s.computeBlockLetterShare(m.span) < minUnchangedBlockLetterShare {
		m.positionConfidence *= changedBlockConfidence
		m.explanation += ", in other words"
	}
	return m
}

// isBlockUnchangedIn reports whether the lines contain the annotated block at the line numbers in the record. It
// compares the hash of the lines at these numbers with the hash in the record. The line numbers alone are not enough,
// because anybody can edit the record in the annotation file.
func (r *Record) isBlockUnchangedIn(lines []string) bool {
	return r.Span.Len() > 0 && r.Span.Last <= len(lines) && hashLines(lines[r.Span.First-1:r.Span.Last]) == r.BlockHash
}

// isProbablyRenamedFrom reports whether a deleted file was probably renamed to the file whose text is p. The sidecar s
// is the file with the annotations of the deleted file. contentBlobName is the git hash of the text p.
//
// The result is true if an annotation in s was written for a file with exactly this hash. It is also true if at least
// half of the annotated line blocks, and at least two such blocks, occur in p in the same order as in the deleted file.
// Blocks of archived annotations are not counted.
func (p *indexedText) isProbablyRenamedFrom(s *sidecar, contentBlobName string) bool {
	votes := 0
	last := 0
	all := 0
	order := slices.Clone(s.records)
	slices.SortStableFunc(order, func(a, b *Record) int { return a.Span.First - b.Span.First })
	for _, r := range order {
		if r.FileBlobName != "" && r.FileBlobName == contentBlobName {
			return true
		}
		if r.Archived {
			continue
		}
		all++
		search := annotatedBlockSearch{newText: p, record: r}
		if m := search.runMethod(copySearchMethod); m.placementKind != NotPlaced && m.span.First >= last {
			votes, last = votes+1, m.span.First
		}
	}
	return votes >= 2 && 2*votes >= all
}
