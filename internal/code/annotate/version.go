// This file compares an older version of a file with the present text, line by line.

package annotate

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// oldText is an older version of a file.
type oldText struct {
	lines []string
	ids   []int32 // numbers of the lines
}

// oldVersion compares an older version of a file with the present text. The comparison is made when its
// result is first needed.
type oldVersion struct {
	*oldText
	now    *lineIndex // the present text
	mapper *diff.Mapper

	// to has, for each old line, the index of the same line in the new text, or -1 if the line is gone. It is nil
	// before the first call of mapLines.
	to []int

	bareTo []int      // like to, but white space is ignored (see [oldVersion.bareAt])
	taken  []bool     // for each new line, whether the line is from the old text
	index  *lineIndex // index of the old text (nil before the first use)
}

// mapLines sets to, bareTo and taken. Later calls do nothing.
func (f *oldVersion) mapLines() {
	if f.to != nil {
		return
	}
	f.to = f.mapper.MapLines(f.ids, f.now.ids)
	f.bareTo = slices.Clone(f.to)
	f.taken = make([]bool, len(f.now.lines))
	for _, t := range f.to {
		if t >= 0 {
			f.taken[t] = true
		}
	}
}

// bareAt returns the index in the new text of an old line. White space is ignored. The result is negative
// if the line is gone. If the line was changed, bareAt compares all changed lines around this line, and
// stores the results for later calls.
func (f *oldVersion) bareAt(index int) int {
	if f.bareTo[index] != -1 {
		return f.bareTo[index]
	}
	i, end, j, to := f.extendToGap(index, index)
	in := f.now.in
	old := in.bareNumbers(f.ids[i:end], f.lines[i:end])
	now := in.bareNumbers(f.now.ids[j:to], f.now.lines[j:to])
	for k, t := range f.mapper.MapLines(old, now) {
		f.bareTo[i+k] = noLine
		if t >= 0 {
			f.bareTo[i+k] = j + t
		}
	}
	return f.bareTo[index]
}

// noLine marks an old line that was searched for and not found.
const noLine = -2

// extendToGap extends a range of old lines by the adjacent lines that were changed or deleted. from and to are the
// first index and the index after the last. It returns the extended range, first to last, and the range of new lines
// that replaced these lines, lo to hi. Ranges exclude their end.
func (f *oldVersion) extendToGap(from, to int) (first, last, lo, hi int) {
	for from > 0 && f.to[from-1] < 0 {
		from--
	}
	for to < len(f.to) && f.to[to] < 0 {
		to++
	}
	lo, hi = 0, len(f.now.lines)
	if from > 0 {
		lo = f.to[from-1] + 1
	}
	if to < len(f.to) {
		hi = f.to[to]
	}
	return from, to, lo, hi
}
