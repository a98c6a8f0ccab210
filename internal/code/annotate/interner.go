// This file assigns numbers to lines and words, so that they can be compared cheaply.

package annotate

import "github.com/oxbow-memory/oxbow/internal/base/diff"

// lineInterner numbers the lines and words of a file's versions.
type lineInterner struct {
	lineIDs     diff.Interner
	wordIDs     diff.Interner
	wordsByLine [][]int32     // words of each line, by line number; nil until first needed
	bareLineIDs diff.Interner // lines without white space
	// for each line, the number of the line without white space, plus 1, or 0 until first needed
	bareIDByLine []int32
}

func newLineInterner() *lineInterner {
	return &lineInterner{lineIDs: diff.Interner{}, wordIDs: diff.Interner{}, bareLineIDs: diff.Interner{}}
}

// lineWordIDs returns the words of the line with number n.
func (x *lineInterner) lineWordIDs(n int32, line string) []int32 {
	if int(n) >= len(x.wordsByLine) {
		x.wordsByLine = append(x.wordsByLine, make([][]int32, len(x.lineIDs)-len(x.wordsByLine))...)
	}
	if x.wordsByLine[n] == nil {
		x.wordsByLine[n] = x.appendWordIDs([]int32{}, line)
	}
	return x.wordsByLine[n]
}

// appendWordIDs appends the numbers of the words in the line.
func (x *lineInterner) appendWordIDs(dst []int32, line string) []int32 {
	for w := range lineTokens(line) {
		dst = append(dst, x.wordIDs.LineID(w))
	}
	return dst
}

// bareLineID returns the number of the line without its white space.
func (x *lineInterner) bareLineID(n int32, line string) int32 {
	if int(n) >= len(x.bareIDByLine) {
		x.bareIDByLine = append(x.bareIDByLine, make([]int32, len(x.lineIDs)-len(x.bareIDByLine))...)
	}
	if x.bareIDByLine[n] == 0 {
		x.bareIDByLine[n] = x.bareLineIDs.LineID(removeLineSpace(line)) + 1
	}
	return x.bareIDByLine[n] - 1
}

// bareLineIDsOf returns the numbers of the lines without their white space.
func (x *lineInterner) bareLineIDsOf(ids []int32, lines []string) []int32 {
	out := make([]int32, len(ids))
	for i, n := range ids {
		out[i] = x.bareLineID(n, lines[i])
	}
	return out
}

// postings lists the positions of each number in a sequence.
type postings struct {
	starts    []int32 // for each number, the start of its positions in list
	positions []int32 // positions in the sequence, sorted by number and then by position
}

// newPostings returns the postings of ids, which must be less than idCount.
func newPostings(ids []int32, idCount int) postings {
	p := postings{make([]int32, idCount+1), make([]int32, len(ids))}
	for _, n := range ids {
		p.starts[n+1]++
	}
	for n := range idCount {
		p.starts[n+1] += p.starts[n]
	}
	next := make([]int32, idCount)
	copy(next, p.starts)
	for i, n := range ids {
		p.positions[next[n]] = int32(i)
		next[n]++
	}
	return p
}

// positionsOf returns all positions of number n. It returns nil for a number that was assigned after the
// postings were made.
func (p postings) positionsOf(n int32) []int32 {
	if int(n) >= len(p.starts)-1 {
		return nil
	}
	return p.positions[p.starts[n]:p.starts[n+1]]
}
