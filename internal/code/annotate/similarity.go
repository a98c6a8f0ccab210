// Similarity of a block and a window of lines, by their words.

package annotate

import "math"

// wordBag counts the words of a block and of a window of lines that slides along
// a text, so that the similarity of the two costs no more at each step than the
// lines that come and go. Similarity is the Sørensen–Dice coefficient of their
// words: twice the common weight by the total weight. A word weighs 1 by the
// square root of how often the text has it. White space and signs, which all
// code has in common, do not count.
type wordBag struct {
	lines  []string // of the text
	ids    []int32  // of the lines
	in     *interner
	want   []int32 // by number of the word, how often the block has it
	have   []int32 // how often the window has it
	words  []int32 // of the block
	weight []int32 // by number of the word, in 1/1,024
	own    int     // weight of the words of the block
	common int     // weight of the words that the block and the window have in common
	total  int     // weight of the words of the window
	lo, hi int     // the window: lines lo to hi, from 0, without hi
}

// newWordBag returns the bag of a text, with an empty block and window.
func newWordBag(lines []string, ids []int32, in *interner) *wordBag {
	b := &wordBag{lines: lines, ids: ids, in: in}
	for i := range lines {
		ws := in.wordsOf(ids[i], lines[i])
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

// reset makes the block another one, and the window empty.
func (b *wordBag) reset(block []string) {
	b.move(0, 0)
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
		b.own += b.weightOf(w)
	}
}

// maxWordWeight is the weight of a word that the text has once, or not at all.
const maxWordWeight = 1024

func (b *wordBag) weightOf(w int32) int {
	if int(w) < len(b.weight) && b.weight[w] > 0 {
		return int(b.weight[w])
	}
	return maxWordWeight
}

// grow makes room for all words that are known.
func (b *wordBag) grow() {
	if n := len(b.in.words); n > len(b.want) {
		b.want = append(b.want, make([]int32, n-len(b.want)+n/2)...)
		b.have = append(b.have, make([]int32, len(b.want)-len(b.have))...)
	}
}

// move makes the window lines lo to hi.
func (b *wordBag) move(lo, hi int) {
	if lo >= b.hi || hi <= b.lo { // nothing stays
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
	ws := b.in.wordsOf(b.ids[line], b.lines[line])
	b.grow()
	for _, w := range ws {
		b.have[w]++
		if b.have[w] <= b.want[w] {
			b.common += b.weightOf(w)
		}
		b.total += b.weightOf(w)
	}
}

func (b *wordBag) drop(line int) {
	for _, w := range b.in.wordsOf(b.ids[line], b.lines[line]) {
		if b.have[w] <= b.want[w] {
			b.common -= b.weightOf(w)
		}
		b.have[w]--
		b.total -= b.weightOf(w)
	}
}

// similarity returns how much the block and the lines lo to hi have in common, 0
// to 1.
func (b *wordBag) similarity(lo, hi int) float64 {
	b.move(lo, hi)
	if b.own+b.total == 0 {
		return 0
	}
	return 2 * float64(b.common) / float64(b.own+b.total)
}
