// This file assigns numbers to lines and words, because comparing numbers is faster than comparing texts.

package annotate

import "github.com/oxbow-memory/oxbow/internal/base/diff"

// lineAndWordNumberer assigns numbers to the lines and words in all versions of a file.
type lineAndWordNumberer struct {
	lineIDs          diff.LineNumberer
	wordIDs          diff.LineNumberer
	wordsByLine      [][]int32         // for each line number, the numbers of the line's words; nil until first needed
	spacelessLineIDs diff.LineNumberer // numbers of lines whose white space was removed
	// For each line number, the number that spacelessLineIDs assigned to the line, plus 1. An element is 0 until it is
	// needed.
	spacelessIDByLineID []int32
}

func newLineAndWordNumberer() *lineAndWordNumberer {
	return &lineAndWordNumberer{
		lineIDs:          diff.LineNumberer{},
		wordIDs:          diff.LineNumberer{},
		spacelessLineIDs: diff.LineNumberer{},
	}
}

// lineWordIDs returns the numbers of the words in line. The argument lineID is the number of the line itself. The
// result is cached.
func (x *lineAndWordNumberer) lineWordIDs(lineID int32, line string) []int32 {
	if int(lineID) >= len(x.wordsByLine) {
		x.wordsByLine = append(x.wordsByLine, make([][]int32, len(x.lineIDs)-len(x.wordsByLine))...)
	}
	if x.wordsByLine[lineID] == nil {
		x.wordsByLine[lineID] = x.appendWordIDs([]int32{}, line)
	}
	return x.wordsByLine[lineID]
}

// appendWordIDs appends the numbers of the words in a line to dst.
func (x *lineAndWordNumberer) appendWordIDs(dst []int32, line string) []int32 {
	for w := range eachLineToken(line) {
		dst = append(dst, x.wordIDs.LineID(w))
	}
	return dst
}

// spacelessLineID returns the number that spacelessLineIDs assigns to a line without its white space. lineID is the
// number that lineIDs assigned to the line with its white space. The result is cached for lineID.
func (x *lineAndWordNumberer) spacelessLineID(lineID int32, line string) int32 {
	if int(lineID) >= len(x.spacelessIDByLineID) {
		x.spacelessIDByLineID = append(
			x.spacelessIDByLineID,
			make([]int32, len(x.lineIDs)-len(x.spacelessIDByLineID))...)
	}
	if x.spacelessIDByLineID[lineID] == 0 {
		x.spacelessIDByLineID[lineID] = x.spacelessLineIDs.LineID(removeAllSpace(line)) + 1
	}
	return x.spacelessIDByLineID[lineID] - 1
}

// spacelessIDsOfLines returns a number for each line. Two lines have the same number if they differ only in white
// space. The parameter lineIDs contains the numbers of the lines with their white space.
func (x *lineAndWordNumberer) spacelessIDsOfLines(lineIDs []int32, lines []string) []int32 {
	out := make([]int32, len(lineIDs))
	for i, n := range lineIDs {
		out[i] = x.spacelessLineID(n, lines[i])
	}
	return out
}

// positionsByLineID is an index for a text whose lines are numbered so that equal lines have the same number. For each
// number, it lists the positions of the lines with this number.
type positionsByLineID struct {
	// for each line number, the index in the field positions at which the line's positions begin
	startIndexByLineID []int32
	positions          []int32 // positions of lines in the text, grouped by line number, in ascending order
}

// newPositionsByLineID returns an index of a text, which contains the line positions for each ID. The slice ids
// contains an ID for each line of the text. Equal lines have equal IDs. All IDs must be less than idCount.
func newPositionsByLineID(ids []int32, idCount int) positionsByLineID {
	p := positionsByLineID{make([]int32, idCount+1), make([]int32, len(ids))}
	for _, n := range ids {
		p.startIndexByLineID[n+1]++
	}
	for n := range idCount {
		p.startIndexByLineID[n+1] += p.startIndexByLineID[n]
	}
	next := make([]int32, idCount)
	copy(next, p.startIndexByLineID)
	for i, n := range ids {
		p.positions[next[n]] = int32(i)
		next[n]++
	}
	return p
}

// positionsOfLineID returns the positions at which a text contains the line that has been given the number n. Equal
// lines have the same number. positionsOfLineID returns nil if the number was given to a line only after p was created.
func (p positionsByLineID) positionsOfLineID(n int32) []int32 {
	if int(n) >= len(p.startIndexByLineID)-1 {
		return nil
	}
	return p.positions[p.startIndexByLineID[n]:p.startIndexByLineID[n+1]]
}
