// This file says how much two texts have in common.

package annotate

import (
	"math"
	"unicode"
	"unicode/utf8"
)

// bag counts the words of a block, and of a window of lines of a page that
// slides along, so that how alike the two are is known at each step for the
// price of the lines that come and go. It is the Sørensen–Dice coefficient of
// their words: twice what is common by what there is. A word weighs less the
// more often the page has it: 1 by the square root of that. White space and
// signs, which all code has in common, do not count.
type bag struct {
	p      *page
	want   []int32 // by number of the word, how often the block has it
	have   []int32 // how often the window does
	words  []int32 // of the block
	weight []int32 // by number of the word, in 1/1,024
	own    int     // weight of the words of the block
	common int     // weight of the words of the window that are in the block, each as often as in both
	in     int     // weight of the words of the window
	lo, hi int     // the window: lines lo to hi, from 0, without hi
}

// newBag returns the bag of a block, with a window of no lines. The page has
// one: the one before is of no use any more.
func (p *page) newBag(block []string) *bag {
	b := p.bag
	if b == nil {
		b = &bag{p: p}
		b.weigh()
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
	b.own = 0
	for _, w := range b.words {
		b.want[w]++
		b.own += b.of(w)
	}
	return b
}

// weigh finds what the words of the page weigh.
func (b *bag) weigh() {
	var count []int32
	for i := range b.p.lines {
		ws := b.p.lex.wordsOf(b.p.num[i], b.p.lines[i])
		if n := len(b.p.lex.words); n > len(count) {
			count = append(count, make([]int32, n-len(count)+n/2)...)
		}
		for _, w := range ws {
			count[w]++
		}
	}
	b.weight = count
	for w, n := range count {
		if n > 0 {
			b.weight[w] = int32(rarest / math.Sqrt(float64(n)))
		}
	}
}

const rarest = 1024 // weight of a word that the page has once, or not at all

// of returns what a word weighs.
func (b *bag) of(w int32) int {
	if int(w) < len(b.weight) && b.weight[w] > 0 {
		return int(b.weight[w])
	}
	return rarest
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
			b.common += b.of(w)
		}
		b.in += b.of(w)
	}
}

func (b *bag) take(line int) {
	ws := b.p.lex.wordsOf(b.p.num[line], b.p.lines[line])
	for _, w := range ws {
		if b.have[w] <= b.want[w] {
			b.common -= b.of(w)
		}
		b.have[w]--
		b.in -= b.of(w)
	}
}

// alike returns how much the block and the lines lo to hi have in common, 0 to
// 1.
func (b *bag) alike(lo, hi int) float64 {
	b.move(lo, hi)
	if b.own+b.in == 0 {
		return 0
	}
	return 2 * float64(b.common) / float64(b.own+b.in)
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

// isLetter reports whether r is a letter or a digit.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// words yields the words of a line: letters, digits and underscores.
func words(l string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range l {
			if isLetter(r) || r == '_' {
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
