// This file assigns numbers to lines and words, so that they can be compared cheaply.

package annotate

import "github.com/oxbow-memory/oxbow/internal/base/diff"

// interner numbers the lines and words of a file's versions.
type interner struct {
	lines     diff.Interner
	words     diff.Interner
	lineWords [][]int32     // words of each line, by line number; nil until first needed
	bareLines diff.Interner // lines without white space
	// for each line, the number of the line without white space, plus 1, or 0 until first needed
	bare []int32
}

func newInterner() *interner {
	return &interner{lines: diff.Interner{}, words: diff.Interner{}, bareLines: diff.Interner{}}
}

// cachedWords returns the words of the line with number n.
func (x *interner) cachedWords(n int32, line string) []int32 {
	if int(n) >= len(x.lineWords) {
		x.lineWords = append(x.lineWords, make([][]int32, len(x.lines)-len(x.lineWords))...)
	}
	if x.lineWords[n] == nil {
		x.lineWords[n] = x.appendWords([]int32{}, line)
	}
	return x.lineWords[n]
}

// appendWords appends the numbers of the words in the line.
func (x *interner) appendWords(to []int32, line string) []int32 {
	for w := range lineTokens(line) {
		to = append(to, x.words.LineID(w))
	}
	return to
}

// bareNumber returns the number of the line without its white space.
func (x *interner) bareNumber(n int32, line string) int32 {
	if int(n) >= len(x.bare) {
		x.bare = append(x.bare, make([]int32, len(x.lines)-len(x.bare))...)
	}
	if x.bare[n] == 0 {
		x.bare[n] = x.bareLines.LineID(bareLine(line)) + 1
	}
	return x.bare[n] - 1
}

// bareNumbers returns the numbers of the lines without their white space.
func (x *interner) bareNumbers(ids []int32, lines []string) []int32 {
	out := make([]int32, len(ids))
	for i, n := range ids {
		out[i] = x.bareNumber(n, lines[i])
	}
	return out
}

// postings lists the positions of each number in a sequence.
type postings struct {
	first []int32 // for each number, the start of its positions in list
	list  []int32 // positions in the sequence, sorted by number and then by position
}

// newPostings returns the postings of ids, which must be less than idCount.
func newPostings(ids []int32, idCount int) postings {
	p := postings{make([]int32, idCount+1), make([]int32, len(ids))}
	for _, n := range ids {
		p.first[n+1]++
	}
	for n := range idCount {
		p.first[n+1] += p.first[n]
	}
	next := make([]int32, idCount)
	copy(next, p.first)
	for i, n := range ids {
		p.list[next[n]] = int32(i)
		next[n]++
	}
	return p
}

// of returns all positions of number n. It returns nil for a number that was assigned after the
// postings were made.
func (p postings) of(n int32) []int32 {
	if int(n) >= len(p.first)-1 {
		return nil
	}
	return p.list[p.first[n]:p.first[n+1]]
}
