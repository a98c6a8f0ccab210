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
	rules        []instructionRule
	oneByteWords []ruleWord // words and signs that are one byte long
	// bit set of the indexes in wordsByPrefixHash for which there are words
	usedPrefixHashes  [prefixHashCount / 64]uint64
	wordsByPrefixHash [prefixHashCount][]ruleWord // words of two or more bytes, by a hash of their first three bytes

	// Words of at least minInnerWordLetters letters that are also searched for inside longer words. The index depends
	// on a word's first three bytes (see prefixHash).
	unspacedWordsByPrefixHash [prefixHashCount][]ruleWord
	// Bit set of the indexes in unspacedWordsByPrefixHash for which there are words.
	usedUnspacedPrefixHashes [prefixHashCount / 64]uint64
}

const prefixHashCount = 1 << 12

// minInnerWordLetters is the minimum length of a word that is also searched for inside longer words.
const minInnerWordLetters = 4

// prefixHash returns the index for a word in ruleTable.wordsByPrefixHash and ruleTable.unspacedWordsByPrefixHash.
// firstBytes contains the first four bytes of the word. Only its lower 24 bits, which are the first three bytes, affect
// the index.
func prefixHash(firstBytes uint32) uint32 { return firstBytes << 8 * 0x9E3779B1 >> 20 }

// wordGroupSet is a bit set of word groups. A rule for texts can require one word from each of several groups of
// words. Each group has its own bit.
type wordGroupSet uint64

// maxWordGroups is the maximum number of word groups in all rules. To match a rule, a text must contain a word from
// each of the rule's groups.
const maxWordGroups = 64

// ruleWord is a word or sign in the rules that recognize instructions. Some rules match only texts that contain such a
// word.
type ruleWord struct {
	text string
	// The field firstBytes contains the first four bytes of the field text. If the text is shorter, the missing bytes
	// are 0. The field firstBytesMask has cleared bits for these missing bytes, so that they are not compared.
	firstBytes, firstBytesMask uint32
	wordGroups                 wordGroupSet // the rules' word groups that contain this word
}

// addTo adds the word w to a list and returns the list. If the list already contains a word with the same text, addTo
// does not add w, but adds w's groups to the groups of this word.
func (w ruleWord) addTo(list []ruleWord) []ruleWord {
	for i := range list {
		if list[i].text == w.text {
			list[i].wordGroups |= w.wordGroups
			return list
		}
	}
	return append(list, w)
}

// firstFourBytes returns the first four bytes of a text as a little-endian number. If the text is shorter, the missing
// bytes count as 0. The text must not be empty.
func firstFourBytes(s string) uint32 {
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
			t.indexWordByFirstBytes(w, w.firstBytes|third<<16)
		}
		return
	}
	t.indexWordByFirstBytes(w, w.firstBytes)
}

// indexWordByFirstBytes adds a word to the index, in the list for words that begin with the bytes in firstBytes. A text
// is searched for the words of this list at each position with these bytes.
func (t *ruleTable) indexWordByFirstBytes(w ruleWord, firstBytes uint32) {
	place := prefixHash(firstBytes)
	t.wordsByPrefixHash[place] = w.addTo(t.wordsByPrefixHash[place])
	t.usedPrefixHashes[place/64] |= 1 << (place % 64)
}

// addUnspacedWord adds a word to the tables for a search that also finds the word inside longer words. This search is
// needed because a text may have no spaces between words.
func (t *ruleTable) addUnspacedWord(w ruleWord) {
	place := prefixHash(w.firstBytes)
	t.unspacedWordsByPrefixHash[place] = w.addTo(t.unspacedWordsByPrefixHash[place])
	t.usedUnspacedPrefixHashes[place/64] |= 1 << (place % 64)
}

// findUnspacedGroups returns the word groups of those rule words that occur at any position in a long word. The long
// word may consist of several words without the spaces between them.
func (t *ruleTable) findUnspacedGroups(longWord string) (found wordGroupSet) {
	for i := 0; i+minInnerWordLetters <= len(longWord); i++ {
		head := firstFourBytes(longWord[i:])
		place := prefixHash(head)
		if t.usedUnspacedPrefixHashes[place/64]>>(place%64)&1 == 0 {
			continue
		}
		for _, w := range t.unspacedWordsByPrefixHash[place] {
			if head == w.firstBytes && strings.HasPrefix(longWord[i:], w.text) {
				found |= w.wordGroups
			}
		}
	}
	return found
}

// findWordGroups returns in found the word groups that have at least one word in the text lowerText. A word group is a
// list of words that a rule contains to recognize instructions. The result mayHaveDividedWords is true if the text may
// contain words that are split into letters or joined to others, as in "i-g-n-o-r-e". It is true if lowerText contains
// one of the following:
//
//   - four single letters, with equal distances between them
//   - three joining signs, such as hyphens, within a few words
//   - an unusually long word
func (t *ruleTable) findWordGroups(lowerText string) (found wordGroupSet, mayHaveDividedWords bool) {
	for _, w := range t.oneByteWords {
		if strings.IndexByte(lowerText, w.text[0]) >= 0 {
			found |= w.wordGroups
		}
	}
	// The lowest bit is set if the last byte of the previous 64 text bytes belongs to a word.
	afterLetter := uint64(0)
	var splits dividedWordDetector
	for blockStart := 0; blockStart < len(lowerText); blockStart += len(textBlock{}) {
		var b textBlock
		copy(b[:], lowerText[blockStart:])
		letters, others := b.classifyBytes()
		for begin := letters&^(letters<<1|afterLetter) | others; begin != 0; begin &= begin - 1 {
			i := blockStart + bits.TrailingZeros64(begin)
			if i >= len(lowerText) {
				break
			}
			head := firstFourBytes(lowerText[i:])
			if place := prefixHash(head); t.usedPrefixHashes[place/64]>>(place%64)&1 != 0 {
				found |= findGroupsAtTextStart(t.wordsByPrefixHash[place], head, lowerText[i:])
			}
		}
		splits.detectDividedWord(letters, others, afterLetter)
		afterLetter = letters >> 63
	}
	return found, splits.hasDividedWord
}

// findGroupsAtTextStart returns the word groups of those elements of words with which a text begins. The argument
// packedFirstBytes must be firstFourBytes(text).
func findGroupsAtTextStart(words []ruleWord, packedFirstBytes uint32, text string) (found wordGroupSet) {
	for i := range words {
		if w := &words[i]; packedFirstBytes&w.firstBytesMask == w.firstBytes && strings.HasPrefix(text, w.text) {
			found |= w.wordGroups
		}
	}
	return found
}

// dividedWordDetector detects whether a text may contain words that are split into letters, such as "i-g-n-o-r-e". It
// examines 64 bytes at a time.
type dividedWordDetector struct {
	hasDividedWord    bool
	joiningSignCount  int // number of single signs between two letters (the "-" in "i-g") in the previous 64 bytes
	lettersAtBlockEnd int // number of letters directly at the end of the previous 64 bytes of text
}

const (
	minJoiningSignCount = 3  // A text with this many single signs between letters in 128 bytes may have split words.
	minLongWordLetters  = 16 // A word of so many letters may be several words without the spaces between them.
)

// detectDividedWord examines the next 64 bytes of a text. It sets hasDividedWord if the text may contain a word that is
// split into letters, or several words without spaces between them. The arguments letterBits and nonLetterBits are the
// results of classifyBytes for these bytes. The argument letterBefore is 1 if the byte before them belongs to a word,
// and 0 otherwise.
func (a *dividedWordDetector) detectDividedWord(letterBits, nonLetterBits, letterBefore uint64) {
	if a.hasDividedWord {
		return
	}
	single := letterBits &^ (letterBits<<1 | letterBefore) &^ (letterBits >> 1)
	spelled := single&(single<<2)&(single<<4)&(single<<6) |
		single&(single<<3)&(single<<6)&(single<<9) |
		single&(single<<4)&(single<<8)&(single<<12)
	signs := 0
	if joins := nonLetterBits & (letterBits<<1 | letterBefore) & (letterBits >> 1); joins != 0 {
		signs = bits.OnesCount64(joins)
	}
	longWord := letterBits & (letterBits << 1)
	longWord &= longWord << 2
	longWord &= longWord << 4
	longWord &= longWord << 8
	a.hasDividedWord = spelled|longWord != 0 || a.joiningSignCount+signs >= minJoiningSignCount ||
		a.lettersAtBlockEnd+bits.TrailingZeros64(^letterBits) >= minLongWordLetters
	a.joiningSignCount, a.lettersAtBlockEnd = signs, bits.LeadingZeros64(^letterBits)
}

type textBlock [64]byte

// classifyBytes returns two bit sets with a bit for each byte of the block. A bit in letterBits is set if the byte is a
// part of a word. A bit in nonLetterBits is set for every other byte except a space.
func (b *textBlock) classifyBytes() (letterBits, nonLetterBits uint64) {
	const ones, tops, low = 0x0101010101010101, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f
	for i := 0; i < len(b); i += 8 {
		x := littleEndian.Uint64(b[i:])
		y := x & low
		in := (y+(0x80-'a')*ones)&^(y+(0x80-'z'-1)*ones) | (y+(0x80-'0')*ones)&^(y+(0x80-'9'-1)*ones)
		in &= tops &^ x
		out := ((y ^ ' '*ones) + low | x) & tops &^ in
		letterBits |= in >> 7 * bitGatherFactor >> 56 << i
		nonLetterBits |= out >> 7 * bitGatherFactor >> 56 << i
	}
	return letterBits, nonLetterBits
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
			if groupCount == maxWordGroups {
				panic("the rules have too many groups of words")
			}
			bit := wordGroupSet(1) << groupCount
			groupCount++
			groups |= bit
			for w := range strings.SplitSeq(group, "|") {
				t.addWord(ruleWord{w, firstFourBytes(w), uint32(1<<(8*min(len(w), 4)) - 1), bit})
				if squashed := strings.ReplaceAll(w, " ", ""); len(squashed) >= minInnerWordLetters {
					t.addUnspacedWord(ruleWord{text: squashed, firstBytes: firstFourBytes(squashed), wordGroups: bit})
				}
			}
		}
		t.rules = append(t.rules, instructionRule{name: name, isWeak: weak, requiredGroups: groups, expression: expr})
	}
	return t
})
