// This file declares the search for a block: its candidates, and the positions at which blocks are found.

package annotate

// PlacingKind says how an annotation was found.
type PlacingKind string

const (
	Exact   PlacingKind = "exact"   // same text, same position
	Moved   PlacingKind = "moved"   // same text at a different position, found by the text and its context
	Tracked PlacingKind = "tracked" // same text, found by comparison with the old file or through a rename
	Edited  PlacingKind = "edited"  // similar text, to be checked before use
	Lost    PlacingKind = "lost"    // the lines do not exist any more
)

// blockMatch is the position of a block.
type blockMatch struct {
	span        Span
	placing     PlacingKind
	confidence  float64 // 0 to 1
	explanation string
}

var noMatch = blockMatch{placing: Lost}

// blockSearch is the search for the block of an annotation in a text.
type blockSearch struct {
	newText    *lineIndex
	record     *Record
	oldVersion *oldVersion // version for which the annotation was written (nil if it is not known)

	windowBuffer []candidate // memory for candidates, which the next search of similar lines overwrites
}

// blockLines returns the lines of the block. If the old version is not known, the lines in the middle of a long
// block are left out.
func (s *blockSearch) blockLines() []string {
	if s.oldVersion != nil {
		return s.oldVersion.lines[s.record.Span.First-1 : s.record.Span.Last]
	}
	return s.record.Block
}

// candidate is a range of lines where a block may be. The first step sets the fields of the first group, and
// the second step sets the scores of the second group that the choice needs.
type candidate struct {
	start, end   int             // index of the first line, and the index after the last line
	unchanged    *unchangedLines // the unchanged lines of the block, which the range contains
	positionRank int             // rank of the supposed position of the block that is in this range, 0 for the best
	distance     int             // number of lines between the range and the supposed position of the block

	contextScore float64 // see [blockSearch.contextScore]
	similarity   float64 // see [wordBag.similarity]
	equalLines   int     // number of lines that are equal to the block's lines at the same index
}

// span returns the range as line numbers.
func (c *candidate) span() Span { return Span{c.start + 1, c.end} }

// unchangedLines describes the unchanged lines of a block.
type unchangedLines struct {
	firstIndex, lastIndex   int     // first and last unchanged line, as indexes in the new text (-1 if there are none)
	linesBefore, linesAfter int     // number of block lines before and after the unchanged lines
	count                   int     // number of unchanged lines, ignoring white space
	letterShare             float64 // share of the block's letters in unchanged lines
	isWholeBlock            bool    // the whole block is unchanged and contiguous
}
