// This file assigns numbers to lines and words, because comparing numbers is faster than comparing texts.

package annotate

import "github.com/oxbow-memory/oxbow/internal/base/diff"

// lineInterner assigns numbers to the lines and words in all versions of a file.
type lineInterner struct {
	lineIDs     diff.LineNumberer
	wordIDs     diff.LineNumberer
	wordsByLine [][]int32         // for each line number, the numbers of the line's words; nil until first needed
	bareLineIDs diff.LineNumberer // numbers of lines whose white space was removed
	// For each line number, the number that bareLineIDs assigned to the line, plus 1. An element is 0 until it is
	// needed.
	bareIDByLine []int32
}

func newLineInterner() *lineInterner {
	return &lineInterner{lineIDs: diff.LineNumberer{}, wordIDs: diff.LineNumberer{}, bareLineIDs: diff.LineNumberer{}}
}

// lineWordIDs returns the numbers of the words in a line, whose own number is n. The result is cached.
func (x *lineInterner) lineWordIDs(n int32, line string) []int32 {
	if int(n) >= len(x.wordsByLine) {
		x.wordsByLine = append(x.wordsByLine, make([][]int32, len(x.lineIDs)-len(x.wordsByLine))...)
	}
	if x.wordsByLine[n] == nil {
		x.wordsByLine[n] = x.appendWordIDs([]int32{}, line)
	}
	return x.wordsByLine[n]
}

// appendWordIDs appends the numbers of the words in a line to dst.
func (x *lineInterner) appendWordIDs(dst []int32, line string) []int32 {
	for w := range eachLineToken(line) {
		dst = append(dst, x.wordIDs.LineID(w))
	}
	return dst
}

// bareLineID removes the white space from a line and returns the number of the result in bareLineIDs. n is the number
// of the unchanged line.
func (x *lineInterner) bareLineID(n int32, line string) int32 {
	if int(n) >= len(x.bareIDByLine) {
		x.bareIDByLine = append(x.bareIDByLine, make([]int32, len(x.lineIDs)-len(x.bareIDByLine))...)
	}
	if x.bareIDByLine[n] == 0 {
		x.bareIDByLine[n] = x.bareLineIDs.LineID(removeLineSpace(line)) + 1
	}
	return x.bareIDByLine[n] - 1
}

// bareLineIDsOf removes the white space from lines and returns their numbers in bareLineIDs. ids are the numbers of
// the unchanged lines.
func (x *lineInterner) bareLineIDsOf(ids []int32, lines []string) []int32 {
	out := make([]int32, len(ids))
	for i, n := range ids {
		out[i] = x.bareLineID(n, lines[i])
	}
	return out
}

// linePositions is an index for a text whose lines are numbered so that equal lines have the same number. For each
// number, it lists the positions of the lines with this number.
type linePositions struct {
	firstPositions []int32 // for each line number, the index in positions at which the line's positions begin
	positions      []int32 // positions of lines in the text, grouped by line number, in ascending order
}

// newLinePositions indexes a text. ids contains a number for each line of the text, and equal lines have equal
// numbers. All numbers must be less than idCount.
func newLinePositions(ids []int32, idCount int) linePositions {
	p := linePositions{make([]int32, idCount+1), make([]int32, len(ids))}
	for _, n := range ids {
		p.firstPositions[n+1]++
	}
	for n := range idCount {
		p.firstPositions[n+1] += p.firstPositions[n]
	}
	next := make([]int32, idCount)
	copy(next, p.firstPositions)
	for i, n := range ids {
		p.positions[next[n]] = int32(i)
		next[n]++
	}
	return p
}

// positionsOf returns the positions of the lines with number n. It returns nil if n is a line that was numbered after
// newLinePositions was called.
func (p linePositions) positionsOf(n int32) []int32 {
	if int(n) >= len(p.firstPositions)-1 {
		return nil
	}
	return p.positions[p.firstPositions[n]:p.firstPositions[n+1]]
}
