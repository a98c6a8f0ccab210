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

	// newIndexes contains, for each old line, the index of the same line in the new text, or -1 if the new text does
	// not have the line. It is nil before the first call of mapOldAndNewLines.
	newIndexes []int

	// for each old line, the index of the new line that is equal without white space (see
	// [oldVersion.newIndexIgnoringSpace])
	spacelessNewIndexes []int
	hasOldLine          []bool       // for each new line, whether an old line is mapped to it
	oldIndex            *indexedText // index of the lines in oldFileText (nil before the first use)
}

// mapOldAndNewLines compares the file's old version with the new text, and sets the fields that map lines of one text
// to the other. Later calls do nothing.
func (f *oldVersion) mapOldAndNewLines() {
	if f.newIndexes != nil {
		return
	}
	f.newIndexes = f.mapper.MapEqualLines(f.lineIDs, f.newText.ids)
	f.spacelessNewIndexes = slices.Clone(f.newIndexes)
	f.hasOldLine = make([]bool, len(f.newText.lines))
	for _, t := range f.newIndexes {
		if t >= 0 {
			f.hasOldLine[t] = true
		}
	}
}

// newIndexIgnoringSpace returns the index in the new text of the line that equals the given old line, except for white
// space. The argument index is the line's index in the old text. The result is negative if the new text does not
// contain such a line. newIndexIgnoringSpace compares all changed lines around the old line at once, and stores the
// results in spacelessNewIndexes for later calls.
func (f *oldVersion) newIndexIgnoringSpace(index int) int {
	if f.spacelessNewIndexes[index] != -1 {
		return f.spacelessNewIndexes[index]
	}
	i, end, j, to := f.extendToWholeGap(index, index)
	in := f.newText.numberer
	old := in.spacelessIDsOfLines(f.lineIDs[i:end], f.lines[i:end])
	now := in.spacelessIDsOfLines(f.newText.ids[j:to], f.newText.lines[j:to])
	for k, t := range f.mapper.MapEqualLines(old, now) {
		f.spacelessNewIndexes[i+k] = noNewLineIndex
		if t >= 0 {
			f.spacelessNewIndexes[i+k] = j + t
		}
	}
	return f.spacelessNewIndexes[index]
}

// noNewLineIndex marks an old line that was searched for in the new text and not found.
const noNewLineIndex = -2

// extendToWholeGap returns the whole gap that contains some changed lines. A gap is a range of adjacent old lines that
// were changed or deleted. The parameters specify the changed lines by a half-open range of indexes in the old text,
// [from, to). The results first and last are the half-open range [first, last) of the whole gap in the old text. In the
// new text, the gap was replaced by the lines in the half-open range [gapStart, gapEnd).
func (f *oldVersion) extendToWholeGap(from, to int) (first, last, gapStart, gapEnd int) {
	for from > 0 && f.newIndexes[from-1] < 0 {
		from--
	}
	for to < len(f.newIndexes) && f.newIndexes[to] < 0 {
		to++
	}
	gapStart, gapEnd = 0, len(f.newText.lines)
	if from > 0 {
		gapStart = f.newIndexes[from-1] + 1
	}
	if to < len(f.newIndexes) {
		gapEnd = f.newIndexes[to]
	}
	return from, to, gapStart, gapEnd
}
