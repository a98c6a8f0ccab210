// This file measures how similar the words in a block and in a window of lines are.

package annotate

import "math"

// wordBag compares the words in a block with the words in a window of lines that slides along a text. Moving the
// window costs only as much as the lines that enter and leave it.
//
// The similarity is the Sørensen–Dice coefficient: twice the common words' weight, divided by the total weight of the
// words in the block and in the window. A word's weight is 1 divided by the square root of its frequency in the text.
// White space and punctuation occur in all code, so they do not count.
type wordBag struct {
	lines        []string // all lines of the searched text
	lineIDs      []int32  // number of each line in lines; equal lines have equal numbers
	interner     *lineInterner
	blockCounts  []int32 // for each word, how often the block contains it
	windowCounts []int32 // for each word, how often it occurs in the lines from windowStart to windowEnd-1
	blockWords   []int32 // words of the searched block, as numbers that interner assigned
	wordWeights  []int32 // each word's weight, in units of 1/1,024
	blockWeight  int     // sum of the weights of all words in the searched block
	// sum of the weights of the words that occur in the searched block and also in the window
	commonWeight int
	windowWeight int // sum of the weights of all words in the lines from windowStart to windowEnd-1
	// indexes of the first line, and of the line after the last line, in the range that is compared with the block
	windowStart, windowEnd int
}

// newWordBag returns a word counter for the lines of a text. No block and no range of lines is set yet.
func newWordBag(lines []string, ids []int32, in *lineInterner) *wordBag {
	b := &wordBag{lines: lines, lineIDs: ids, interner: in}
	for i := range lines {
		ws := in.lineWordIDs(ids[i], lines[i])
		if n := len(in.wordIDs); n > len(b.wordWeights) {
			b.wordWeights = append(b.wordWeights, make([]int32, n-len(b.wordWeights)+n/2)...)
		}
		for _, w := range ws {
			b.wordWeights[w]++
		}
	}
	for w, n := range b.wordWeights {
		if n > 0 {
			b.wordWeights[w] = int32(maxWordWeight / math.Sqrt(float64(n)))
		}
	}
	return b
}

// setComparedBlock sets the block of lines that is compared with the window, which is a range of lines in the text. It
// makes the window empty.
func (b *wordBag) setComparedBlock(block []string) {
	b.moveWindow(0, 0)
	for _, w := range b.blockWords {
		b.blockCounts[w] = 0
	}
	b.blockWords = b.blockWords[:0]
	for _, l := range block {
		b.blockWords = b.interner.appendWordIDs(b.blockWords, l)
	}
	b.growCounts()
	b.blockWeight = 0
	for _, w := range b.blockWords {
		b.blockCounts[w]++
		b.blockWeight += b.wordWeight(w)
	}
}

// maxWordWeight is the weight of a word that occurs at most once in the text. In a comparison of two blocks, rare
// words weigh more than frequent words.
const maxWordWeight = 1024

func (b *wordBag) wordWeight(w int32) int {
	if int(w) < len(b.wordWeights) && b.wordWeights[w] > 0 {
		return int(b.wordWeights[w])
	}
	return maxWordWeight
}

// growCounts makes the slices that count words long enough for all words that have a number.
func (b *wordBag) growCounts() {
	if n := len(b.interner.wordIDs); n > len(b.blockCounts) {
		b.blockCounts = append(b.blockCounts, make([]int32, n-len(b.blockCounts)+n/2)...)
		b.windowCounts = append(b.windowCounts, make([]int32, len(b.blockCounts)-len(b.windowCounts))...)
	}
}

// moveWindow moves the window, the range of text lines that is compared, to the lines with indexes start to end-1.
func (b *wordBag) moveWindow(start, end int) {
	// The old and the new range of lines do not overlap, so start with an empty range.
	if start >= b.windowEnd || end <= b.windowStart {
		for i := b.windowStart; i < b.windowEnd; i++ {
			b.removeLine(i)
		}
		b.windowStart, b.windowEnd = start, start
	}
	for b.windowStart > start {
		b.windowStart--
		b.addLine(b.windowStart)
	}
	for b.windowEnd < end {
		b.addLine(b.windowEnd)
		b.windowEnd++
	}
	for b.windowStart < start {
		b.removeLine(b.windowStart)
		b.windowStart++
	}
	for b.windowEnd > end {
		b.windowEnd--
		b.removeLine(b.windowEnd)
	}
}

func (b *wordBag) addLine(line int) {
	ws := b.interner.lineWordIDs(b.lineIDs[line], b.lines[line])
	b.growCounts()
	for _, w := range ws {
		b.windowCounts[w]++
		if b.windowCounts[w] <= b.blockCounts[w] {
			b.commonWeight += b.wordWeight(w)
		}
		b.windowWeight += b.wordWeight(w)
	}
}

func (b *wordBag) removeLine(line int) {
	for _, w := range b.interner.lineWordIDs(b.lineIDs[line], b.lines[line]) {
		if b.windowCounts[w] <= b.blockCounts[w] {
			b.commonWeight -= b.wordWeight(w)
		}
		b.windowCounts[w]--
		b.windowWeight -= b.wordWeight(w)
	}
}

// windowSimilarity returns how similar the words in the lines start to end-1 are to the words in the block, from 0 to
// 1.
func (b *wordBag) windowSimilarity(start, end int) float64 {
	b.moveWindow(start, end)
	if b.blockWeight+b.windowWeight == 0 {
		return 0
	}
	return 2 * float64(b.commonWeight) / float64(b.blockWeight+b.windowWeight)
}
