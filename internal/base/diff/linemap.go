// This file finds, for each line in a text, the equal line in another text.

// Package diff compares texts by line and merges two changed versions of a text.
package diff

import "slices"

// LineNumberer assigns a number, called ID, to each distinct line. Comparing the IDs is faster than comparing the
// lines.
type LineNumberer map[string]int32

// LineID returns the ID of a line. A line without an ID gets the next unused number.
func (in LineNumberer) LineID(line string) int32 {
	n, ok := in[line]
	if !ok {
		n = int32(len(in))
		in[line] = n
	}
	return n
}

// LineIDs returns the ID of each line.
func (in LineNumberer) LineIDs(lines []string) []int32 {
	out := make([]int32, len(lines))
	for i, l := range lines {
		out[i] = in.LineID(l)
	}
	return out
}

// A LineMapper finds, for the lines in one text, the equal lines in another text. A LineMapper can be used for many
// pairs of texts, and reuses its working memory. The zero LineMapper is ready to use.
type LineMapper struct {
	// Equal lines have the same number, which is their index in this slice. Between two calls of MapEqualLines, all
	// counts are zero.
	lineOccurrences []lineOccurrence
}

// lineOccurrence counts a line in two texts, A and B. It contains how often the line occurs in each text, and the
// index of the last occurrence in each text.
type lineOccurrence struct{ countInTextA, countInTextB, lastIndexInTextA, lastIndexInTextB int32 }

// MapEqualLines compares two texts, which the caller passes as slices of line IDs (see [LineNumberer]). For each line
// of the first text, the result contains the index of an equal line in the second text, or -1 if the line is mapped to
// no line. The mapped lines are in the same order in both texts.
//
// The method is patience diff (Bram Cohen). Lines that occur exactly once in each text are anchors, and the parts
// between two anchors are mapped separately. A part without anchors is mapped by a shortest edit script (Myers, "An
// O(ND) Difference Algorithm and Its Variations", 1986).
func (d *LineMapper) MapEqualLines(lineIDsA, lineIDsB []int32) []int {
	m := make([]int, len(lineIDsA))
	for i := range m {
		m[i] = -1
	}
	maxID := int32(-1)
	for _, side := range [][]int32{lineIDsA, lineIDsB} {
		for _, n := range side {
			maxID = max(maxID, n)
		}
	}
	if n := int(maxID) + 1; n > len(d.lineOccurrences) {
		d.lineOccurrences = make([]lineOccurrence, n+n/4)
	}
	d.mapLineRange(lineIDsA, lineIDsB, 0, 0, m)
	return m
}

// mapLineRange maps lines in a part of the first text to equal lines in a part of the second text. The slices firstPart
// and secondPart contain the line IDs of the two parts. firstStart and secondStart are the indexes of their first lines
// in the whole texts. If line i of the first text is mapped to line j of the second text, mapLineRange sets mapping[i]
// to j.
//
// First, mapLineRange maps the equal lines at the beginning and at the end of the parts. Then it divides the parts at
// anchors, which are lines that occur exactly once in each part. If there are no anchors, it finds a shortest edit
// script.
func (d *LineMapper) mapLineRange(firstPart, secondPart []int32, firstStart, secondStart int, mapping []int) {
	for len(firstPart) > 0 && len(secondPart) > 0 && firstPart[0] == secondPart[0] {
		mapping[firstStart] = secondStart
		firstPart = firstPart[1:]
		secondPart = secondPart[1:]
		firstStart = firstStart + 1
		secondStart = secondStart + 1
	}
	for len(firstPart) > 0 && len(secondPart) > 0 && firstPart[len(firstPart)-1] == secondPart[len(secondPart)-1] {
		mapping[firstStart+len(firstPart)-1] = secondStart + len(secondPart) - 1
		firstPart, secondPart = firstPart[:len(firstPart)-1], secondPart[:len(secondPart)-1]
	}
	if len(firstPart) == 0 || len(secondPart) == 0 {
		return
	}
	anchors := d.findUniqueCommonLines(firstPart, secondPart)
	if len(anchors) == 0 {
		mapLinesByMyers(firstPart, secondPart, firstStart, secondStart, mapping)
		return
	}
	x, y := 0, 0
	for _, p := range anchors {
		d.mapLineRange(firstPart[x:p[0]], secondPart[y:p[1]], firstStart+x, secondStart+y, mapping)
		mapping[firstStart+p[0]] = secondStart + p[1]
		x, y = p[0]+1, p[1]+1
	}
	d.mapLineRange(firstPart[x:], secondPart[y:], firstStart+x, secondStart+y, mapping)
}

// findUniqueCommonLines returns the anchors of two texts. An anchor is a line that occurs exactly once in each text.
// The result contains a pair of indexes for each anchor: its index in a and its index in b. Both indexes increase from
// pair to pair. If the texts contain the anchors in different orders, findUniqueCommonLines leaves out as few anchors
// as possible, so that the others have the same order in both texts.
func (d *LineMapper) findUniqueCommonLines(a, b []int32) [][2]int {
	occurrences := d.lineOccurrences
	for i, l := range a {
		occurrences[l].countInTextA, occurrences[l].lastIndexInTextA = occurrences[l].countInTextA+1, int32(i)
	}
	for i, l := range b {
		occurrences[l].countInTextB, occurrences[l].lastIndexInTextB = occurrences[l].countInTextB+1, int32(i)
	}
	var pairs [][2]int
	for i, l := range a {
		if s := occurrences[l]; s.countInTextA == 1 && s.countInTextB == 1 {
			pairs = append(pairs, [2]int{i, int(s.lastIndexInTextB)})
		}
	}
	for _, side := range [][]int32{a, b} {
		for _, l := range side {
			occurrences[l] = lineOccurrence{}
		}
	}
	return longestAscendingPairs(pairs)
}

// longestAscendingPairs returns the longest subsequence of pairs in which the second numbers increase. It uses patience
// sorting.
func longestAscendingPairs(pairs [][2]int) [][2]int {
	// tops[n] is the index of the last pair of an ascending sequence of n+1 pairs. If there are several such sequences,
	// it belongs to the sequence whose last pair has the smallest second number. previous[i] is the index of the pair
	// before pair i in the longest ascending sequence that ends with pair i, or -1.
	tops := make([]int, 0, len(pairs))
	previous := make([]int, len(pairs))
	for n, p := range pairs {
		k, _ := slices.BinarySearchFunc(tops, p[1], func(t, want int) int { return pairs[t][1] - want })
		previous[n] = -1
		if k > 0 {
			previous[n] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, n)
		} else {
			tops[k] = n
		}
	}
	if len(tops) == 0 {
		return nil
	}
	result := make([][2]int, len(tops))
	for n, k := tops[len(tops)-1], len(tops)-1; k >= 0; n, k = previous[n], k-1 {
		result[k] = pairs[n]
	}
	return result
}

// maxLineEdits is the maximum number of edits for which mapLinesByMyers searches. If more edits are necessary, the part
// counts as rewritten. The reasons are that the memory grows with the square of the edit count, and that such a
// mapping would not be useful.
const maxLineEdits = 1000

// mapLinesByMyers maps lines in a part of the first text to equal lines in a part of the second text, by a shortest
// edit script. The arguments and the result in mapping are the same as for mapLineRange. If more than maxLineEdits
// edits are necessary, mapLinesByMyers maps no line.
func mapLinesByMyers(firstPart, secondPart []int32, firstStart, secondStart int, mapping []int) {
	maxDistance := min(len(firstPart)+len(secondPart), maxLineEdits)
	// Myers's algorithm compares both texts on a grid. Diagonal k contains the positions x in firstPart and x-k in
	// secondPart. For each diagonal, furthest contains the largest x that was reached so far.
	furthest := make([]int32, 2*maxDistance+2)
	// Round d tries all edit scripts with d edits. trace contains, for each round, a copy of the elements of furthest
	// that the round may change.
	var trace [][]int32
	for d := 0; d <= maxDistance; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if isReachedByInsertion(furthest, maxDistance, k, d) {
				x = int(furthest[maxDistance+k+1])
			} else {
				x = int(furthest[maxDistance+k-1]) + 1
			}
			for x < len(firstPart) && x-k < len(secondPart) && firstPart[x] == secondPart[x-k] {
				x++
			}
			furthest[maxDistance+k] = int32(x)
			if x >= len(firstPart) && x-k >= len(secondPart) {
				mapLinesAlongEditScript(trace, len(firstPart), len(secondPart), firstStart, secondStart, mapping)
				return
			}
		}
		trace = append(trace, slices.Clone(furthest[maxDistance-d:maxDistance+d+1]))
	}
}

// isReachedByInsertion is a step of Myers's algorithm, which searches for the fewest edits that turn a text a into a
// text b. The diagonal k consists of all pairs of a position in a and a position in b whose difference is k. Among all
// ways to make editCount edits that end on the given diagonal, isReachedByInsertion considers the way that leads
// furthest. It reports whether the last of these edits is the insertion of a line from b. Otherwise the last edit is
// the deletion of a line from a.
//
// The slice furthestPositions contains, for each diagonal, the largest position in a that editCount-1 edits can reach.
// The element for the diagonal k is furthestPositions[middle+k].
func isReachedByInsertion(furthestPositions []int32, middle, diagonal, editCount int) bool {
	if diagonal == -editCount || diagonal == editCount {
		return diagonal == -editCount
	}
	return furthestPositions[middle+diagonal-1] < furthestPositions[middle+diagonal+1]
}

// mapLinesAlongEditScript maps the lines that a shortest edit script leaves unchanged. It is the last step of
// mapLinesByMyers, and follows the edit script from the end of both parts back to their start. The parts have
// firstLength and secondLength lines. In their texts, they begin at the lines firstStart and secondStart. If line i of
// the first text is mapped to line j of the second text, mapLinesAlongEditScript sets lineMapping[i] to j.
//
// The element trace[d] contains the furthest positions in the first part that d edits reach, on the diagonals -d to d.
func mapLinesAlongEditScript(
	trace [][]int32,
	firstLength, secondLength, firstStart, secondStart int,
	lineMapping []int,
) {
	for d := len(trace); d > 0; d-- {
		round := trace[d-1]
		furthest := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return int(round[k+d-1])
		}
		k := firstLength - secondLength
		diagonal, step := k-1, 1
		if isReachedByInsertion(round, d-1, k, d) {
			diagonal, step = k+1, 0
		}
		px := furthest(diagonal)
		py := px - diagonal
		for firstLength > px+step {
			firstLength, secondLength = firstLength-1, secondLength-1
			lineMapping[firstStart+firstLength] = secondStart + secondLength
		}
		firstLength, secondLength = px, py
	}
	for firstLength > 0 && secondLength > 0 {
		firstLength, secondLength = firstLength-1, secondLength-1
		lineMapping[firstStart+firstLength] = secondStart + secondLength
	}
}
