// This file contains the table of all rules, and finds the rules' words in one pass over a text.

package instruction

import (
	_ "embed"
	"math/bits"
	"strings"
	"sync"
)

// ruleTable contains all rules by which texts with instructions are recognized, and an index of the rules' words.
type ruleTable struct {
	rules        []rule
	oneByteWords []ruleWord               // words and signs that are one byte long
	usedHeads    [headBuckets / 64]uint64 // bit set of the indexes in wordsByHead for which there are words
	wordsByHead  [headBuckets][]ruleWord  // words of two or more bytes, by a hash of their first three bytes

	// Words of at least minInnerLetters letters that are also searched for inside longer words. The index depends on a
	// word's first three bytes (see headIndex).
	squashedWordsByHead [headBuckets][]ruleWord
	// Bit set of the indexes in squashedWordsByHead for which there are words.
	usedSquashedHeads [headBuckets / 64]uint64
}

const headBuckets = 1 << 12

// minInnerLetters is the minimum length of a word that is also searched for inside longer words.
const minInnerLetters = 4

// headIndex returns the index in ruleTable.wordsByHead and ruleTable.squashedWordsByHead for the words that begin with
// certain bytes. head contains a word's first four bytes, of which only the first three are used.
func headIndex(head uint32) uint32 { return head << 8 * 0x9E3779B1 >> 20 }

// wordGroupSet is a bit set of word groups. A rule for texts can require one word from each of several groups of
// words. Each group has its own bit.
type wordGroupSet uint64

// maxGroups is the maximum number of word groups in all rules. To match a rule, a text must contain a word from each
// of the rule's groups.
const maxGroups = 64

// ruleWord is a word or sign in the rules that recognize instructions. Some rules match only texts that contain such a
// word.
type ruleWord struct {
	text string
	// head contains the first four bytes of the field text, or 0 for each byte after its end. mask has the bits of
	// these zero bytes cleared, so that they are not compared.
	head, mask uint32
	groups     wordGroupSet // the rules' word groups that contain this word
}

// addTo adds a word to a list. If the list already contains the word's text, addTo only adds the word's groups to that
// element. A group is a set of words from which a text must contain one to match a rule.
func (w ruleWord) addTo(list []ruleWord) []ruleWord {
	for i := range list {
		if list[i].text == w.text {
			list[i].groups |= w.groups
			return list
		}
	}
	return append(list, w)
}

// headBytes returns the first four bytes of a text. The bytes after the end of a shorter text are 0.
func headBytes(s string) uint32 {
	if len(s) < 4 {
		s += "\x00\x00\x00"
	}
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// addWord adds a word to the index. Because a look-up uses the first three bytes at a text position, a word of two
// bytes is added 256 times, once for each byte that may follow the word in a text.
func (t *ruleTable) addWord(w ruleWord) {
	if len(w.text) == 1 {
		t.oneByteWords = w.addTo(t.oneByteWords)
		return
	}
	if len(w.text) == 2 {
		for third := range uint32(1 << 8) {
			t.addWordAtHead(w, w.head|third<<16)
		}
		return
	}
	t.addWordAtHead(w, w.head)
}

// addWordAtHead adds a word to the index, in the list that is searched at text positions with the bytes in head.
func (t *ruleTable) addWordAtHead(w ruleWord, head uint32) {
	place := headIndex(head)
	t.wordsByHead[place] = w.addTo(t.wordsByHead[place])
	t.usedHeads[place/64] |= 1 << (place % 64)
}

// addSquashedWord adds a word that is also searched for inside longer words, because a text may lack the spaces
// between words.
func (t *ruleTable) addSquashedWord(w ruleWord) {
	place := headIndex(w.head)
	t.squashedWordsByHead[place] = w.addTo(t.squashedWordsByHead[place])
	t.usedSquashedHeads[place/64] |= 1 << (place % 64)
}

// findSquashedGroups returns the word groups from which a long word contains a word, at any position. The long word
// may be several words without the spaces between them.
func (t *ruleTable) findSquashedGroups(squashed string) (found wordGroupSet) {
	for i := 0; i+minInnerLetters <= len(squashed); i++ {
		head := headBytes(squashed[i:])
		place := headIndex(head)
		if t.usedSquashedHeads[place/64]>>(place%64)&1 == 0 {
			continue
		}
		for _, w := range t.squashedWordsByHead[place] {
			if head == w.head && strings.HasPrefix(squashed[i:], w.text) {
				found |= w.groups
			}
		}
	}
	return found
}

// findMatchedGroups returns the groups that have a word in the text. It also reports whether words of the text may be
// split or joined. This is possible if the text has four single letters at equal distances, three joining signs within
// a few words, or an unusually long word.
func (t *ruleTable) findMatchedGroups(low string) (found wordGroupSet, mayBeSplit bool) {
	for _, w := range t.oneByteWords {
		if strings.IndexByte(low, w.text[0]) >= 0 {
			found |= w.groups
		}
	}
	// The lowest bit is set if the last byte of the previous 64 bytes of text is a part of a word.
	afterLetter := uint64(0)
	var splits dividedWordDetector
	for blockStart := 0; blockStart < len(low); blockStart += len(textBlock{}) {
		var b textBlock
		copy(b[:], low[blockStart:])
		letters, others := b.classify()
		for begin := letters&^(letters<<1|afterLetter) | others; begin != 0; begin &= begin - 1 {
			i := blockStart + bits.TrailingZeros64(begin)
			if i >= len(low) {
				break
			}
			head := headBytes(low[i:])
			if place := headIndex(head); t.usedHeads[place/64]>>(place%64)&1 != 0 {
				found |= findGroupsAt(t.wordsByHead[place], head, low[i:])
			}
		}
		splits.addBlock(letters, others, afterLetter)
		afterLetter = letters >> 63
	}
	return found, splits.isSplit
}

// findGroupsAt finds the words in the list words with which a text begins. It returns the sets of alternative words
// (groups) that contain them. head contains the first bytes of the text.
func findGroupsAt(words []ruleWord, head uint32, text string) (found wordGroupSet) {
	for i := range words {
		if w := &words[i]; head&w.mask == w.head && strings.HasPrefix(text, w.text) {
			found |= w.groups
		}
	}
	return found
}

// dividedWordDetector detects whether a text may contain words that are split into letters, such as "i-g-n-o-r-e". It
// examines 64 bytes at a time.
type dividedWordDetector struct {
	isSplit     bool
	joinCount   int // number of signs between two letters, such as "-", in the previous 64 bytes of text
	tailLetters int // number of letters directly at the end of the previous 64 bytes of text
}

const (
	minJoiningSigns = 3  // A text with so many signs between letters, within 128 bytes, may contain split words.
	minLongWord     = 16 // A word of so many letters may be several words without the spaces between them.
)

// addBlock examines the next 64 bytes of a text for split or joined words. letters and others are the sets that
// classify returns. letterBefore is 1 if the byte before them is a letter.
func (a *dividedWordDetector) addBlock(letters, others, letterBefore uint64) {
	if a.isSplit {
		return
	}
	single := letters &^ (letters<<1 | letterBefore) &^ (letters >> 1)
	spelled := single&(single<<2)&(single<<4)&(single<<6) |
		single&(single<<3)&(single<<6)&(single<<9) |
		single&(single<<4)&(single<<8)&(single<<12)
	signs := 0
	if joins := others & (letters<<1 | letterBefore) & (letters >> 1); joins != 0 {
		signs = bits.OnesCount64(joins)
	}
	longWord := letters & (letters << 1)
	longWord &= longWord << 2
	longWord &= longWord << 4
	longWord &= longWord << 8
	a.isSplit = spelled|longWord != 0 || a.joinCount+signs >= minJoiningSigns ||
		a.tailLetters+bits.TrailingZeros64(^letters) >= minLongWord
	a.joinCount, a.tailLetters = signs, bits.LeadingZeros64(^letters)
}

type textBlock [64]byte

// classify returns two bit sets with a bit for each byte of the block. A bit in letters is set if the byte is a part
// of a word. A bit in others is set for every other byte except a space.
func (b *textBlock) classify() (letters, others uint64) {
	const ones, tops, low = 0x0101010101010101, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f
	for i := 0; i < len(b); i += 8 {
		x := littleEndian.Uint64(b[i:])
		y := x & low
		in := (y+(0x80-'a')*ones)&^(y+(0x80-'z'-1)*ones) | (y+(0x80-'0')*ones)&^(y+(0x80-'9'-1)*ones)
		in &= tops &^ x
		out := ((y ^ ' '*ones) + low | x) & tops &^ in
		letters |= in >> 7 * bitGatherFactor >> 56 << i
		others |= out >> 7 * bitGatherFactor >> 56 << i
	}
	return letters, others
}

// If a word is multiplied by bitGatherFactor, the product's highest byte contains the lowest bit of each byte in the
// word.
const bitGatherFactor = 0x0102040810204080

//go:embed rules.txt
var ruleText string

// loadedRules returns the table of the rules in rules.txt.
var loadedRules = sync.OnceValue(func() *ruleTable {
	t := new(ruleTable)
	groupCount := 0
	for line := range strings.Lines(ruleText) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, "\t")
		words, expr, _ := strings.Cut(rest, "\t")
		name, weak := strings.CutSuffix(name, "?")
		groups := wordGroupSet(0)
		for group := range strings.SplitSeq(words, " & ") {
			if groupCount == maxGroups {
				panic("the rules have too many groups of words")
			}
			bit := wordGroupSet(1) << groupCount
			groupCount++
			groups |= bit
			for w := range strings.SplitSeq(group, "|") {
				t.addWord(ruleWord{w, headBytes(w), uint32(1<<(8*min(len(w), 4)) - 1), bit})
				if squashed := strings.ReplaceAll(w, " ", ""); len(squashed) >= minInnerLetters {
					t.addSquashedWord(ruleWord{text: squashed, head: headBytes(squashed), groups: bit})
				}
			}
		}
		t.rules = append(t.rules, rule{name: name, isWeak: weak, requiredGroups: groups, expression: expr})
	}
	return t
})
