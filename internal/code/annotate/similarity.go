// This file measures by words how similar a block and a window of lines are.

package annotate

import "math"

// wordBag counts the words in a block, and in a window of lines that slides along a text. Moving
// the window costs only as much as the lines that enter and leave it. The similarity of block and
// window is the Sørensen–Dice coefficient of their words: twice the common weight divided by the
// total weight. A word's weight is 1 divided by the square root of its frequency in the text. White
// space and punctuation, which occur in all code, do not count.
type wordBag struct {
	lines                  []string // lines of the text
	ids                    []int32  // numbers of the lines
	interner               *lineInterner
	blockCounts            []int32 // for each word, its frequency in the block
	windowCounts           []int32 // for each word, its frequency in the window
	blockWords             []int32 // words of the block
	wordWeights            []int32 // weight of each word, in 1/1,024
	blockWeight            int     // total weight of the block's words
	commonWeight           int     // weight of the words that the block and the window have in common
	windowWeight           int     // total weight of the window's words
	windowStart, windowEnd int     // the window: the lines with indexes lo to hi-1
}

// newWordBag returns a bag for a text, with an empty block and an empty window.
func newWordBag(lines []string, ids []int32, in *lineInterner) *wordBag {
	b := &wordBag{lines: lines, ids: ids, interner: in}
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

// setBlock sets the block and makes the window empty.
func (b *wordBag) setBlock(block []string) {
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

// maxWordWeight is the weight of a word that occurs in the text at most once.
const maxWordWeight = 1024

func (b *wordBag) wordWeight(w int32) int {
	if int(w) < len(b.wordWeights) && b.wordWeights[w] > 0 {
		return int(b.wordWeights[w])
	}
	return maxWordWeight
}

// growCounts makes room for all words of the interner.
func (b *wordBag) growCounts() {
	if n := len(b.interner.wordIDs); n > len(b.blockCounts) {
		b.blockCounts = append(b.blockCounts, make([]int32, n-len(b.blockCounts)+n/2)...)
		b.windowCounts = append(b.windowCounts, make([]int32, len(b.blockCounts)-len(b.windowCounts))...)
	}
}

// moveWindow sets the window to the lines lo to hi-1.
func (b *wordBag) moveWindow(lo, hi int) {
	if lo >= b.windowEnd || hi <= b.windowStart { // the old and the new window have no line in common
		for i := b.windowStart; i < b.windowEnd; i++ {
			b.removeLine(i)
		}
		b.windowStart, b.windowEnd = lo, lo
	}
	for b.windowStart > lo {
		b.windowStart--
		b.addLine(b.windowStart)
	}
	for b.windowEnd < hi {
		b.addLine(b.windowEnd)
		b.windowEnd++
	}
	for b.windowStart < lo {
		b.removeLine(b.windowStart)
		b.windowStart++
	}
	for b.windowEnd > hi {
		b.windowEnd--
		b.removeLine(b.windowEnd)
	}
}

func (b *wordBag) addLine(line int) {
	ws := b.interner.lineWordIDs(b.ids[line], b.lines[line])
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
	for _, w := range b.interner.lineWordIDs(b.ids[line], b.lines[line]) {
		if b.windowCounts[w] <= b.blockCounts[w] {
			b.commonWeight -= b.wordWeight(w)
		}
		b.windowCounts[w]--
		b.windowWeight -= b.wordWeight(w)
	}
}

// similarity returns the similarity, 0 to 1, of the block and the lines lo to hi-1.
func (b *wordBag) similarity(lo, hi int) float64 {
	b.moveWindow(lo, hi)
	if b.blockWeight+b.windowWeight == 0 {
		return 0
	}
	return 2 * float64(b.commonWeight) / float64(b.blockWeight+b.windowWeight)
}
