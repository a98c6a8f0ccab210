// This file compares an older version of a file with the present text, line by line.

package annotate

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// oldText is an older version of a file.
type oldText struct {
	lines   []string
	lineIDs []int32 // numbers of the lines
}

// oldVersion compares an older version of a file with the present text. The comparison is made when its
// result is first needed.
type oldVersion struct {
	*oldText
	newText *lineIndex // the present text
	mapper  *diff.Mapper

	// newIndexes has, for each old line, the index of the same line in the new text, or -1 if the line is gone. It
	// is nil before the first call of mapLines.
	newIndexes []int

	bareNewIndexes []int      // like newIndexes, but white space is ignored (see [oldVersion.newIndexIgnoringSpace])
	isFromOldText  []bool     // for each new line, whether the line is from the old text
	oldIndex       *lineIndex // index of the old text (nil before the first use)
}

// mapLines sets newIndexes, bareNewIndexes and isFromOldText. Later calls do nothing.
func (f *oldVersion) mapLines() {
	if f.newIndexes != nil {
		return
	}
	f.newIndexes = f.mapper.MapLines(f.lineIDs, f.newText.ids)
	f.bareNewIndexes = slices.Clone(f.newIndexes)
	f.isFromOldText = make([]bool, len(f.newText.lines))
	for _, t := range f.newIndexes {
		if t >= 0 {
			f.isFromOldText[t] = true
		}
	}
}

// newIndexIgnoringSpace returns the index in the new text of an old line. White space is ignored. The result is
// negative if the line is gone. If the line was changed, newIndexIgnoringSpace compares all changed lines around this
// line, and stores the results for later calls.
func (f *oldVersion) newIndexIgnoringSpace(index int) int {
	if f.bareNewIndexes[index] != -1 {
		return f.bareNewIndexes[index]
	}
	i, end, j, to := f.extendToGap(index, index)
	in := f.newText.interner
	old := in.bareLineIDsOf(f.lineIDs[i:end], f.lines[i:end])
	now := in.bareLineIDsOf(f.newText.ids[j:to], f.newText.lines[j:to])
	for k, t := range f.mapper.MapLines(old, now) {
		f.bareNewIndexes[i+k] = lineNotFound
		if t >= 0 {
			f.bareNewIndexes[i+k] = j + t
		}
	}
	return f.bareNewIndexes[index]
}

// lineNotFound marks an old line that was searched for and not found.
const lineNotFound = -2

// extendToGap extends a range of old lines by the adjacent lines that were changed or deleted. from and to are the
// first index and the index after the last. It returns the extended range, first to last, and the range of new lines
// that replaced these lines, lo to hi. Ranges exclude their end.
func (f *oldVersion) extendToGap(from, to int) (first, last, lo, hi int) {
	for from > 0 && f.newIndexes[from-1] < 0 {
		from--
	}
	for to < len(f.newIndexes) && f.newIndexes[to] < 0 {
		to++
	}
	lo, hi = 0, len(f.newText.lines)
	if from > 0 {
		lo = f.newIndexes[from-1] + 1
	}
	if to < len(f.newIndexes) {
		hi = f.newIndexes[to]
	}
	return from, to, lo, hi
}
