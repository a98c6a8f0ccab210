// This file contains the table of all rules, and finds the words of the rules in one pass over a
// text.

package instruction

import (
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

// table contains all rules and an index of their words.
type table struct {
	rules []rule
	signs []word                  // words of a single byte, sorted
	heads [headPlaces / 64]uint64 // bit set: the elements of words that are not empty
	words [headPlaces][]word      // longer words, by a hash of their first three bytes

	squashed []word // words of at least leastLetters letters, without spaces
}

const headPlaces = 1 << 12

// leastLetters is the minimum number of letters of a word that is searched for inside longer words.
const leastLetters = 4

// placeOf returns the index in words for a head, which depends on its first three bytes.
func placeOf(head uint32) uint32 { return head << 8 * 0x9E3779B1 >> 20 }

// word is a word or sign that a rule requires in a text.
type word struct {
	text       string
	head, mask uint32 // first four bytes of text, and a mask for the bytes that text has
	rule       int
	group      uint8
}

// headOf returns the first four bytes of a text. Missing bytes are 0.
func headOf(s string) uint32 {
	if len(s) < 4 {
		s += "\x00\x00\x00"
	}
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// add adds a word to the index.
func (t *table) add(w word) {
	if len(w.text) == 1 {
		t.signs = append(t.signs, w)
		return
	}
	for third := range uint32(1 << 8) { // any third byte may follow a word of two bytes
		if head := w.head | third<<16; len(w.text) == 2 || head == w.head {
			place := placeOf(head)
			if !slices.Contains(t.words[place], w) {
				t.words[place] = append(t.words[place], w)
				t.heads[place/64] |= 1 << (place % 64)
			}
		}
	}
}

// groupsIn returns, for each rule, a bit for each of its word groups of which the text contains a
// word. It also reports whether words of the text may be split or joined, because the text has four
// single letters at equal distances, three joining signs within a few words, or an unusually long
// word.
func (t *table) groupsIn(low string) (has []uint8, mayBeApart bool) {
	has = make([]uint8, len(t.rules))
	sign, isIn := byte(0), false
	for _, w := range t.signs {
		if w.text[0] != sign {
			sign, isIn = w.text[0], strings.IndexByte(low, w.text[0]) >= 0
		}
		if isIn {
			has[w.rule] |= w.group
		}
	}
	before := uint64(0) // lowest bit: the byte before the block is part of a word
	var a apart
	for from := 0; from < len(low); from += len(block{}) {
		var b block
		copy(b[:], low[from:])
		letters, others := b.letters()
		for begin := letters&^(letters<<1|before) | others; begin != 0; begin &= begin - 1 {
			i := from + bits.TrailingZeros64(begin)
			if i >= len(low) {
				break
			}
			head := headOf(low[i:])
			if place := placeOf(head); t.heads[place/64]>>(place%64)&1 != 0 {
				for _, w := range t.words[place] {
					if head&w.mask == w.head && strings.HasPrefix(low[i:], w.text) {
						has[w.rule] |= w.group
					}
				}
			}
		}
		a.add(letters, others, before)
		before = letters >> 63
	}
	return has, a.found
}

// apart detects split words, one block of text after another.
type apart struct {
	found bool
	signs int // number of signs in the previous block that join words
	tail  int // number of letters at the end of the previous block
}

const (
	leastSigns = 3  // number of signs that join words, in two consecutive blocks
	leastTail  = 16 // number of letters in a word
)

// add examines the letters and signs of a block. before is 1 if a letter precedes the block.
func (a *apart) add(letters, others, before uint64) {
	if a.found {
		return
	}
	alone := letters &^ (letters<<1 | before) &^ (letters >> 1)
	spelled := alone&(alone<<2)&(alone<<4)&(alone<<6) |
		alone&(alone<<3)&(alone<<6)&(alone<<9) |
		alone&(alone<<4)&(alone<<8)&(alone<<12)
	signs := 0
	if joins := others & (letters<<1 | before) & (letters >> 1); joins != 0 {
		signs = bits.OnesCount64(joins)
	}
	long := letters & (letters << 1)
	long &= long << 2
	long &= long << 4
	long &= long << 8
	a.found = spelled|long != 0 || a.signs+signs >= leastSigns || a.tail+bits.TrailingZeros64(^letters) >= leastTail
	a.signs, a.tail = signs, bits.LeadingZeros64(^letters)
}

type block [64]byte

// letters returns one bit for each byte that is part of a word, and one bit for each other byte
// except spaces.
func (b *block) letters() (letters, others uint64) {
	const ones, tops, low = 0x0101010101010101, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f
	for i := 0; i < len(b); i += 8 {
		x := le.Uint64(b[i:])
		y := x & low
		in := (y+(0x80-'a')*ones)&^(y+(0x80-'z'-1)*ones) | (y+(0x80-'0')*ones)&^(y+(0x80-'9'-1)*ones)
		in &= tops &^ x
		out := ((y ^ ' '*ones) + low | x) & tops &^ in
		letters |= in >> 7 * gatherBits >> 56 << i
		others |= out >> 7 * gatherBits >> 56 << i
	}
	return letters, others
}

// gatherBits is a factor. The product with a word has the lowest bit of each byte in its highest
// byte.
const gatherBits = 0x0102040810204080

//go:embed rules.txt
var source string

// rules returns the rules of rules.txt.
var rules = sync.OnceValue(func() *table {
	t := new(table)
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, "\t")
		words, expr, _ := strings.Cut(rest, "\t")
		name, weak := strings.CutSuffix(name, "?")
		groups := uint8(0)
		for group := range strings.SplitSeq(words, " & ") {
			bit := groups + 1
			groups |= bit
			for w := range strings.SplitSeq(group, "|") {
				t.add(word{w, headOf(w), uint32(1<<(8*min(len(w), 4)) - 1), len(t.rules), bit})
				if squashed := strings.ReplaceAll(w, " ", ""); len(squashed) >= leastLetters {
					t.squashed = append(t.squashed, word{text: squashed, rule: len(t.rules), group: bit})
				}
			}
		}
		t.rules = append(t.rules, rule{name: name, weak: weak, groups: groups, expr: expr})
	}
	slices.SortFunc(t.signs, func(a, b word) int { return strings.Compare(a.text, b.text) })
	return t
})
