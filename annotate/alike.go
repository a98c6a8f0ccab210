// This file says how much two texts have in common.

package annotate

import "unicode"

// bag counts the words of a block, and of a window of lines of a page that
// slides along, so that how alike the two are is known at each step for the
// price of the lines that come and go. It is the Sørensen–Dice coefficient of
// their words: twice what is common by what there is. White space and signs,
// which all code has in common, do not count.
type bag struct {
	p      *page
	want   []int32 // by number of the word, how often the block has it
	have   []int32 // how often the window does
	words  []int32 // of the block
	common int     // words of the window that are in the block, each as often as in both
	in     int     // words of the window
	lo, hi int     // the window: lines lo to hi, from 0, without hi
}

// newBag returns the bag of a block, with a window of no lines. The page has
// one: the one before is of no use any more.
func (p *page) newBag(block []string) *bag {
	b := p.bag
	if b == nil {
		b = &bag{p: p}
		p.bag = b
	}
	b.move(0, 0)
	for _, w := range b.words {
		b.want[w] = 0
	}
	b.words = b.words[:0]
	for _, l := range block {
		b.words = p.lex.words.numbers(b.words, l)
	}
	b.grow()
	for _, w := range b.words {
		b.want[w]++
	}
	return b
}

// grow makes room for all words that are known.
func (b *bag) grow() {
	if n := len(b.p.lex.words); n > len(b.want) {
		b.want = append(b.want, make([]int32, n-len(b.want)+n/2)...)
		b.have = append(b.have, make([]int32, len(b.want)-len(b.have))...)
	}
}

// move makes the window lines lo to hi.
func (b *bag) move(lo, hi int) {
	if lo >= b.hi || hi <= b.lo { // nothing stays
		for i := b.lo; i < b.hi; i++ {
			b.take(i)
		}
		b.lo, b.hi = lo, lo
	}
	for b.lo > lo {
		b.lo--
		b.put(b.lo)
	}
	for b.hi < hi {
		b.put(b.hi)
		b.hi++
	}
	for b.lo < lo {
		b.take(b.lo)
		b.lo++
	}
	for b.hi > hi {
		b.hi--
		b.take(b.hi)
	}
}

func (b *bag) put(line int) {
	ws := b.p.lex.wordsOf(b.p.num[line], b.p.lines[line])
	b.grow()
	for _, w := range ws {
		if b.have[w]++; b.have[w] <= b.want[w] {
			b.common++
		}
	}
	b.in += len(ws)
}

func (b *bag) take(line int) {
	ws := b.p.lex.wordsOf(b.p.num[line], b.p.lines[line])
	for _, w := range ws {
		if b.have[w] <= b.want[w] {
			b.common--
		}
		b.have[w]--
	}
	b.in -= len(ws)
}

// alike returns how much the block and the lines lo to hi have in common, 0 to
// 1.
func (b *bag) alike(lo, hi int) float64 {
	b.move(lo, hi)
	if len(b.words)+b.in == 0 {
		return 0
	}
	return 2 * float64(b.common) / float64(len(b.words)+b.in)
}

// vocabulary gives words numbers.
type vocabulary map[string]int32

// numbers appends the numbers of the words of a line.
func (v vocabulary) numbers(to []int32, line string) []int32 {
	for w := range words(line) {
		n, ok := v[w]
		if !ok {
			n = int32(len(v))
			v[w] = n
		}
		to = append(to, n)
	}
	return to
}

// words yields the words of a line: letters, digits and underscores.
func words(l string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range l {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(l[start:i]) {
				return
			}
			start = -1
		}
		if start >= 0 {
			yield(l[start:])
		}
	}
}
