// This file measures how similar the words in a block and in a window of lines are.

package annotate

import "math"

// blockWordComparer compares the words in a block with the words in a window of lines that slides along a text. Moving
// the window costs only as much as the lines that enter and leave it.
//
// The similarity is the Sørensen–Dice coefficient: twice the common words' weight, divided by the total weight of the
// words in the block and in the window. A word's weight is 1 divided by the square root of its frequency in the text.
// White space and punctuation occur in all code, so they do not count.
type blockWordComparer struct {
	lines            []string // all lines of the searched text
	lineIDs          []int32  // number of each line in lines; equal lines have equal numbers
	numberer         *lineAndWordNumberer
	blockWordCounts  []int32 // for each word, how often the block contains it
	windowWordCounts []int32 // for each word, how often it occurs in the lines from windowStartLine to windowEndLine-1
	blockWords       []int32 // words of the searched block, as numbers that numberer assigned
	wordWeights      []int32 // each word's weight, in units of 1/1,024
	blockWordWeight  int     // sum of the weights of all words in the searched block
	// total weight of the words that occur in the searched block and also in the window
	commonWordWeight int
	windowWordWeight int // sum of the weights of all words in the lines from windowStartLine to windowEndLine-1
	// indexes of the first line, and of the line after the last line, in the range that is compared with the block
	windowStartLine, windowEndLine int
}

// newBlockWordComparer returns a comparer for the lines of a text. A word has a smaller weight if it occurs in more
// lines. The caller must set the block and the range of lines to compare.
func newBlockWordComparer(lines []string, ids []int32, numberer *lineAndWordNumberer) *blockWordComparer {
	b := &blockWordComparer{lines: lines, lineIDs: ids, numberer: numberer}
	for i := range lines {
		ws := numberer.lineWordIDs(ids[i], lines[i])
		if n := len(numberer.wordIDs); n > len(b.wordWeights) {
			b.wordWeights = append(b.wordWeights, make([]int32, n-len(b.wordWeights)+n/2)...)
		}
		for _, w := range ws {
			b.wordWeights[w]++
		}
	}
	for w, n := range b.wordWeights {
		if n > 0 {
			b.wordWeights[w] = int32(maxComparedWordWeight / math.Sqrt(float64(n)))
		}
	}
	return b
}

// setComparedBlock sets the block of lines that is compared with the window, which is a line range in the text. It
// makes the window empty.
func (b *blockWordComparer) setComparedBlock(block []string) {
	b.moveLineWindow(0, 0)
	for _, w := range b.blockWords {
		b.blockWordCounts[w] = 0
	}
	b.blockWords = b.blockWords[:0]
	for _, l := range block {
		b.blockWords = b.numberer.appendWordIDs(b.blockWords, l)
	}
	b.growWordCounts()
	b.blockWordWeight = 0
	for _, w := range b.blockWords {
		b.blockWordCounts[w]++
		b.blockWordWeight += b.wordWeight(w)
	}
}

// maxComparedWordWeight is the weight of a word that occurs at most once in the text. In a comparison of two blocks,
// rare words weigh more than frequent words.
const maxComparedWordWeight = 1024

func (b *blockWordComparer) wordWeight(wordID int32) int {
	if int(wordID) < len(b.wordWeights) && b.wordWeights[wordID] > 0 {
		return int(b.wordWeights[wordID])
	}
	return maxComparedWordWeight
}

// growWordCounts makes the slices that count words long enough for all words that have a number.
func (b *blockWordComparer) growWordCounts() {
	if n := len(b.numberer.wordIDs); n > len(b.blockWordCounts) {
		b.blockWordCounts = append(b.blockWordCounts, make([]int32, n-len(b.blockWordCounts)+n/2)...)
		b.windowWordCounts = append(
			b.windowWordCounts,
			make([]int32, len(b.blockWordCounts)-len(b.windowWordCounts))...)
	}
}

// moveLineWindow moves the window, the range of text lines that is compared, to the lines with indexes start to end-1.
func (b *blockWordComparer) moveLineWindow(start, end int) {
	// The old and the new range of lines do not overlap, so start with an empty range.
	if start >= b.windowEndLine || end <= b.windowStartLine {
		for i := b.windowStartLine; i < b.windowEndLine; i++ {
			b.removeLine(i)
		}
		b.windowStartLine, b.windowEndLine = start, start
	}
	for b.windowStartLine > start {
		b.windowStartLine--
		b.addLine(b.windowStartLine)
	}
	for b.windowEndLine < end {
		b.addLine(b.windowEndLine)
		b.windowEndLine++
	}
	for b.windowStartLine < start {
		b.removeLine(b.windowStartLine)
		b.windowStartLine++
	}
	for b.windowEndLine > end {
		b.windowEndLine--
		b.removeLine(b.windowEndLine)
	}
}

func (b *blockWordComparer) addLine(line int) {
	ws := b.numberer.lineWordIDs(b.lineIDs[line], b.lines[line])
	b.growWordCounts()
	for _, w := range ws {
		b.windowWordCounts[w]++
		if b.windowWordCounts[w] <= b.blockWordCounts[w] {
			b.commonWordWeight += b.wordWeight(w)
		}
		b.windowWordWeight += b.wordWeight(w)
	}
}

func (b *blockWordComparer) removeLine(line int) {
	for _, w := range b.numberer.lineWordIDs(b.lineIDs[line], b.lines[line]) {
		if b.windowWordCounts[w] <= b.blockWordCounts[w] {
			b.commonWordWeight -= b.wordWeight(w)
		}
		b.windowWordCounts[w]--
		b.windowWordWeight -= b.wordWeight(w)
	}
}

// blockSimilarityOf compares the words in some lines of the text with the words in the block. The first of these lines
// has the index start, and the last has the index end-1. The result is from 0, if no word is in both, to 1, if all
// words are equal.
func (b *blockWordComparer) blockSimilarityOf(start, end int) float64 {
	b.moveLineWindow(start, end)
	if b.blockWordWeight+b.windowWordWeight == 0 {
		return 0
	}
	return 2 * float64(b.commonWordWeight) / float64(b.blockWordWeight+b.windowWordWeight)
}
