// This file finds the present position of a block in a text. It tries several methods, the most certain first. Each
// method has three steps: candidates.go finds ranges of lines, scores.go measures how well they fit, and choice.go
// chooses one range or none.

package annotate

import "slices"

// blockSearchMethod is a method to find the lines of an annotation in a new text. Its functions find possible
// positions, score these positions, and choose the best position.
type blockSearchMethod struct {
	findCandidates  func(*blockSearch) []candidate
	scoreCandidates func(*blockSearch, []candidate) []candidate
	chooseMatch     func(*blockSearch, []candidate) blockMatch
}

// The methods to find a block, the most certain method first.
var (
	methodsWithOldVersion = []blockSearchMethod{
		{(*blockSearch).findUnchanged, (*blockSearch).scoreWords, (*blockSearch).chooseUnchanged},
		{(*blockSearch).findNewCopies, (*blockSearch).scoreContext, (*blockSearch).chooseMovedBlock},
		{(*blockSearch).findCopies, (*blockSearch).scoreContext, (*blockSearch).chooseUniqueBlock},
		{(*blockSearch).findUnchanged, (*blockSearch).scoreWords, (*blockSearch).chooseHalfUnchanged},
		{(*blockSearch).findReplacements, (*blockSearch).scoreMostSimilar, (*blockSearch).chooseReplacement},
	}
	methodsByText = []blockSearchMethod{
		copyMethod,
		{(*blockSearch).findSimilar, (*blockSearch).scoreMostSimilar, (*blockSearch).chooseSimilarBlock},
	}
	copyMethod = blockSearchMethod{
		(*blockSearch).findCopies,
		(*blockSearch).scoreContext,
		(*blockSearch).chooseCopiedBlock,
	}
	uniqueCopyMethod = blockSearchMethod{
		(*blockSearch).findCopies,
		(*blockSearch).scoreContext,
		(*blockSearch).chooseUniqueCopy,
	}
)

// runMethod searches for the block by one method.
func (s *blockSearch) runMethod(method blockSearchMethod) blockMatch {
	return method.chooseMatch(s, method.scoreCandidates(s, method.findCandidates(s)))
}

// changedBlockFactor reduces the confidence that a changed block is the annotated one, if almost no line is unchanged.
// With this factor, a confidence of .5 or more always means that some lines of the block are unchanged.
const changedBlockFactor = .49

// findBlock returns the most probable position of the record's block in the new text, whose blob name is blob. It
// tries several methods in order, and uses the first that finds a position. If the old version is known and contains
// the block, the methods compare it with the new text. Otherwise they only search for the lines of the block.
// findBlock returns noMatch for a record without lines.
func (s *blockSearch) findBlock(blob string) blockMatch {
	r := s.record
	isEmptyFile := r.Span.Len() == 0 && len(s.newText.lines) == 0
	if len(r.Block) == 0 || isEmptyFile {
		return noMatch
	}
	isSameFile := r.Blob != "" && r.Blob == blob
	if isSameFile && r.hasBlock(s.newText.lines) {
		return blockMatch{r.Span, Exact, 1, "the file is as it was then"}
	}
	ways := methodsWithOldVersion
	if s.oldVersion != nil && r.hasBlock(s.oldVersion.lines) {
		s.oldVersion.mapLines()
	} else {
		s.oldVersion, ways = nil, methodsByText
	}
	m := noMatch
	for _, w := range ways {
		candidates := w.scoreCandidates(s, w.findCandidates(s))
		m = w.chooseMatch(s, candidates)
		if m.placing != Lost {
			break
		}
	}
	if m.placing == Edited && s.sharedLetterShare(m.span) < minUnchangedShare {
		m.confidence *= changedBlockFactor
		m.explanation += ", in other words"
	}
	return m
}

// hasBlock reports whether a text contains the annotated lines at the line numbers in the record. It compares a hash,
// because anybody can edit the record in the annotation file.
func (r *Record) hasBlock(lines []string) bool {
	return r.Span.Len() > 0 && r.Span.Last <= len(lines) && hashLines(lines[r.Span.First-1:r.Span.Last]) == r.Hash
}

// isSuccessorOf reports whether a deleted file, to which the sidecar belongs, was probably renamed to this text. This
// is so if an annotation was written for exactly this content. This is also so if at least half of the annotated
// blocks, and at least two blocks, occur in this text in their old order.
func (p *lineIndex) isSuccessorOf(s *sidecar, blob string) bool {
	votes := 0
	last := 0
	all := 0
	order := slices.Clone(s.records)
	slices.SortStableFunc(order, func(a, b *Record) int { return a.Span.First - b.Span.First })
	for _, r := range order {
		if r.Blob != "" && r.Blob == blob {
			return true
		}
		if r.Archived {
			continue
		}
		all++
		search := blockSearch{newText: p, record: r}
		if m := search.runMethod(copyMethod); m.placing != Lost && m.span.First >= last {
			votes, last = votes+1, m.span.First
		}
	}
	return votes >= 2 && 2*votes >= all
}
