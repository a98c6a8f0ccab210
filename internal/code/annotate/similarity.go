// This file measures by words how similar a block and a window of lines are.

package annotate

import "math"

// wordBag counts the words in a block, and in a window of lines that slides along a text. Moving
// the window costs only as much as the lines that enter and leave it. The similarity of block and
// window is the Sørensen–Dice coefficient of their words: twice the common weight divided by the
// total weight. A word's weight is 1 divided by the square root of its frequency in the text. White
// space and punctuation, which occur in all code, do not count.
type wordBag struct {
	lines  []string // lines of the text
	ids    []int32  // numbers of the lines
	in     *interner
	want   []int32 // for each word, its frequency in the block
	have   []int32 // for each word, its frequency in the window
	words  []int32 // words of the block
	weight []int32 // weight of each word, in 1/1,024
	own    int     // total weight of the block's words
	common int     // weight of the words that the block and the window have in common
	total  int     // total weight of the window's words
	lo, hi int     // the window: the lines with indexes lo to hi-1
}

// newWordBag returns a bag for a text, with an empty block and an empty window.
func newWordBag(lines []string, ids []int32, in *interner) *wordBag {
	b := &wordBag{lines: lines, ids: ids, in: in}
	for i := range lines {
		ws := in.cachedWords(ids[i], lines[i])
		if n := len(in.words); n > len(b.weight) {
			b.weight = append(b.weight, make([]int32, n-len(b.weight)+n/2)...)
		}
		for _, w := range ws {
			b.weight[w]++
		}
	}
	for w, n := range b.weight {
		if n > 0 {
			b.weight[w] = int32(maxWordWeight / math.Sqrt(float64(n)))
		}
	}
	return b
}

// reset sets the block and makes the window empty.
func (b *wordBag) reset(block []string) {
	b.moveWindow(0, 0)
	for _, w := range b.words {
		b.want[w] = 0
	}
	b.words = b.words[:0]
	for _, l := range block {
		b.words = b.in.appendWords(b.words, l)
	}
	b.grow()
	b.own = 0
	for _, w := range b.words {
		b.want[w]++
		b.own += b.wordWeight(w)
	}
}

// maxWordWeight is the weight of a word that occurs in the text at most once.
const maxWordWeight = 1024

func (b *wordBag) wordWeight(w int32) int {
	if int(w) < len(b.weight) && b.weight[w] > 0 {
		return int(b.weight[w])
	}
	return maxWordWeight
}

// grow makes room for all words of the interner.
func (b *wordBag) grow() {
	if n := len(b.in.words); n > len(b.want) {
		b.want = append(b.want, make([]int32, n-len(b.want)+n/2)...)
		b.have = append(b.have, make([]int32, len(b.want)-len(b.have))...)
	}
}

// moveWindow sets the window to the lines lo to hi-1.
func (b *wordBag) moveWindow(lo, hi int) {
	if lo >= b.hi || hi <= b.lo { // the old and the new window have no line in common
		for i := b.lo; i < b.hi; i++ {
			b.drop(i)
		}
		b.lo, b.hi = lo, lo
	}
	for b.lo > lo {
		b.lo--
		b.add(b.lo)
	}
	for b.hi < hi {
		b.add(b.hi)
		b.hi++
	}
	for b.lo < lo {
		b.drop(b.lo)
		b.lo++
	}
	for b.hi > hi {
		b.hi--
		b.drop(b.hi)
	}
}

func (b *wordBag) add(line int) {
	ws := b.in.cachedWords(b.ids[line], b.lines[line])
	b.grow()
	for _, w := range ws {
		b.have[w]++
		if b.have[w] <= b.want[w] {
			b.common += b.wordWeight(w)
		}
		b.total += b.wordWeight(w)
	}
}

func (b *wordBag) drop(line int) {
	for _, w := range b.in.cachedWords(b.ids[line], b.lines[line]) {
		if b.have[w] <= b.want[w] {
			b.common -= b.wordWeight(w)
		}
		b.have[w]--
		b.total -= b.wordWeight(w)
	}
}

// similarity returns the similarity, 0 to 1, of the block and the lines lo to hi-1.
func (b *wordBag) similarity(lo, hi int) float64 {
	b.moveWindow(lo, hi)
	if b.own+b.total == 0 {
		return 0
	}
	return 2 * float64(b.common) / float64(b.own+b.total)
}
