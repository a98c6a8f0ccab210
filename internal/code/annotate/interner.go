// This file assigns numbers to lines and words, because comparing numbers is faster than comparing texts.

package annotate

import "github.com/oxbow-memory/oxbow/internal/base/diff"

// lineInterner assigns numbers to the lines and words in all versions of a file.
type lineInterner struct {
	lineIDs     diff.LineNumberer
	wordIDs     diff.LineNumberer
	wordsByLine [][]int32         // for each line number, the numbers of the line's words; nil until first needed
	bareLineIDs diff.LineNumberer // numbers of lines whose white space was removed
	// for each line number, the number of the line without white space, plus 1; 0 until first needed
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

// bareLineID returns the number that a line has without its white space. n is the number of the line itself.
func (x *lineInterner) bareLineID(n int32, line string) int32 {
	if int(n) >= len(x.bareIDByLine) {
		x.bareIDByLine = append(x.bareIDByLine, make([]int32, len(x.lineIDs)-len(x.bareIDByLine))...)
	}
	if x.bareIDByLine[n] == 0 {
		x.bareIDByLine[n] = x.bareLineIDs.LineID(removeLineSpace(line)) + 1
	}
	return x.bareIDByLine[n] - 1
}

// bareLineIDsOf returns the numbers that lines have without their white space. ids are the numbers of the lines.
func (x *lineInterner) bareLineIDsOf(ids []int32, lines []string) []int32 {
	out := make([]int32, len(ids))
	for i, n := range ids {
		out[i] = x.bareLineID(n, lines[i])
	}
	return out
}

// linePositions lists, for each number, the positions at which it occurs in a sequence of numbers.
type linePositions struct {
	firstPositions []int32 // for each number, the index in positions at which its positions begin
	positions      []int32 // positions in the sequence, grouped by number, in ascending order
}

// newLinePositions returns the positions of each number in ids. All numbers must be less than idCount.
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

// positionsOf returns the positions of number n. It returns nil if n was assigned after the postings were made.
func (p linePositions) positionsOf(n int32) []int32 {
	if int(n) >= len(p.firstPositions)-1 {
		return nil
	}
	return p.positions[p.firstPositions[n]:p.firstPositions[n+1]]
}
