// This file compares an old version of a file with its present text, line by line.

package annotate

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// oldFileText is an old version of a file, split into lines.
type oldFileText struct {
	lines []string
	// for each line, the number that the lineAndWordNumberer assigned to it; equal lines have equal numbers
	lineIDs []int32
}

// oldVersion compares an old version of a file with the present text. It compares the texts when a result is first
// needed.
type oldVersion struct {
	*oldFileText
	newText *indexedText // the present text of the file, which is compared with oldFileText
	mapper  *diff.LineMapper

	// newIndexByOldLine contains, for each old line, the index of the same line in the new text, or -1 if the new text
	// does not have the line. It is nil before the first call of mapOldAndNewLines.
	newIndexByOldLine []int

	// for each old line, the index of the new line that is equal without white space (see
	// [oldVersion.findNewIndexIgnoringSpace])
	cachedIndexIgnoringSpace []int
	hasOldLine               []bool       // for each new line, whether an old line is mapped to it
	indexedOldText           *indexedText // index of the lines in oldFileText (nil before the first use)
}

// mapOldAndNewLines compares the file's old version with the new text, and sets the fields that map lines of one text
// to the other. Later calls do nothing.
func (f *oldVersion) mapOldAndNewLines() {
	if f.newIndexByOldLine != nil {
		return
	}
	f.newIndexByOldLine = f.mapper.MapEqualLines(f.lineIDs, f.newText.lineIDs)
	f.cachedIndexIgnoringSpace = slices.Clone(f.newIndexByOldLine)
	f.hasOldLine = make([]bool, len(f.newText.lines))
	for _, t := range f.newIndexByOldLine {
		if t >= 0 {
			f.hasOldLine[t] = true
		}
	}
}

// findNewIndexIgnoringSpace returns the index in the new text of the line that equals the given old line, except for
// white space. The argument index is the line's index in the old text. The result is negative if the new text does not
// contain such a line. findNewIndexIgnoringSpace compares all changed lines around the old line at once, and stores the
// results in cachedIndexIgnoringSpace for later calls.
func (f *oldVersion) findNewIndexIgnoringSpace(index int) int {
	if f.cachedIndexIgnoringSpace[index] != -1 {
		return f.cachedIndexIgnoringSpace[index]
	}
	i, end, j, to := f.findWholeGap(index, index)
	in := f.newText.numberer
	old := in.spacelessIDsOfLines(f.lineIDs[i:end], f.lines[i:end])
	now := in.spacelessIDsOfLines(f.newText.lineIDs[j:to], f.newText.lines[j:to])
	for k, t := range f.mapper.MapEqualLines(old, now) {
		f.cachedIndexIgnoringSpace[i+k] = lineNotInNewText
		if t >= 0 {
			f.cachedIndexIgnoringSpace[i+k] = j + t
		}
	}
	return f.cachedIndexIgnoringSpace[index]
}

// lineNotInNewText marks an old line that was searched for in the new text and not found.
const lineNotInNewText = -2

// findWholeGap extends a range of changed lines to a whole gap. A gap is a range of adjacent old lines that were
// changed or deleted, between two unchanged lines. The lines of the old text with the indexes from to to-1 must all be
// changed. The gap consists of the old lines with the indexes oldStart to oldEnd-1. The new lines with the indexes
// newStart to newEnd-1 have replaced them.
func (f *oldVersion) findWholeGap(from, to int) (oldStart, oldEnd, newStart, newEnd int) {
	for from > 0 && f.newIndexByOldLine[from-1] < 0 {
		from--
	}
	for to < len(f.newIndexByOldLine) && f.newIndexByOldLine[to] < 0 {
		to++
	}
	newStart, newEnd = 0, len(f.newText.lines)
	if from > 0 {
		newStart = f.newIndexByOldLine[from-1] + 1
	}
	if to < len(f.newIndexByOldLine) {
		newEnd = f.newIndexByOldLine[to]
	}
	return from, to, newStart, newEnd
}
