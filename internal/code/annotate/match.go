// This file declares the types for finding a block: the search, its candidates, and the found position.

package annotate

// PlacementKind says how the position of an annotation was found.
type PlacementKind string

const (
	PlacedExactly PlacementKind = "exact" // the text is the same, at the same position
	// the annotated text is the same, but at a different position, which was found by the text and the lines around it
	PlacedAfterMove PlacementKind = "moved"
	// the text is the same, and its position was found by comparison with the old file or through a rename
	PlacedByTracking PlacementKind = "tracked"
	// the text is similar but has changed, so the reader must check whether the annotation still applies
	PlacedAfterEdit PlacementKind = "edited"
	NotPlaced       PlacementKind = "lost" // the lines were not found
)

// annotatedBlockMatch is the position at which a block was found.
type annotatedBlockMatch struct {
	span               LineSpan
	placementKind      PlacementKind
	positionConfidence float64 // probability, from 0 to 1, that the block is at this position
	explanation        string
}

var noMatch = annotatedBlockMatch{placementKind: NotPlaced}

// annotatedBlockSearch searches for the block of one annotation in one text.
type annotatedBlockSearch struct {
	newText    *indexedText
	record     *Record
	oldVersion *oldVersion // the version of the file for which the annotation was written (nil if it is not known)

	reusedCandidates []candidateRange // reused memory for candidates; the next search for similar lines overwrites it
}

// blockLines returns the lines of the annotated block. If the old version is not known, the result is the stored block.
// In a long stored block, the middle lines are missing.
func (s *annotatedBlockSearch) blockLines() []string {
	if s.oldVersion != nil {
		return s.oldVersion.lines[s.record.Span.First-1 : s.record.Span.Last]
	}
	return s.record.Block
}

// candidateRange is a range of lines that may be the annotated block. A search has three steps. The first step finds
// the range and sets the first group of fields. The second step sets the scores in the second group that the last step
// compares.
type candidateRange struct {
	startLineIndex, endLineIndex int // indexes of the first line and the line after the last
	// the unchanged lines of the annotated block, which are all in the range
	unchangedLines *unchangedBlockLines
	// The search assumes several possible positions of the block. This field is the rank of the assumed position near
	// which the range lies. Rank 0 is the most probable position.
	assumedPositionRank int
	distanceToPosition  int // number of lines between the range and the assumed position of the block

	// share of the lines around the annotated lines that are also around this range; see
	// [annotatedBlockSearch.contextMatchShare]
	contextMatchShare float64
	wordSimilarity    float64 // similarity of the words; see [blockWordComparer.blockSimilarityOf]
	equalLineCount    int     // number of lines in the range that equal the line at the same index in the block
}

// lineSpan returns the candidate's lines as line numbers, which count from 1.
func (c *candidateRange) lineSpan() LineSpan { return LineSpan{c.startLineIndex + 1, c.endLineIndex} }

// unchangedBlockLines describes which lines of a block are unchanged in the new text.
type unchangedBlockLines struct {
	// indexes of the first and last unchanged line in the new text (-1 without an unchanged line)
	firstIndexInNewText, lastIndexInNewText int
	// number of the block's lines before the first and after the last unchanged line
	linesBefore, linesAfter int
	// number of lines in the block that are unchanged except for white space
	unchangedLineCount    int
	unchangedLetterShare  float64 // share of the letters in the block that belong to unchanged lines
	isWholeBlockUnchanged bool    // all annotated lines are unchanged, with no other lines between them
}
