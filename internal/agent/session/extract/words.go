// This file splits a text into sentences, and a sentence into words for the patterns.

// Package extract finds sentences that are worth keeping: a person's requests to remember something, a person's
// corrections, and an agent's conclusions. It uses a table of patterns in seven languages and no language model. The
// patterns are strict: they rather miss a sentence than accept a wrong one.
package extract

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Sentences below or above these lengths are skipped. Longer texts are usually pasted and not written by the person.
const (
	minSentenceBytes = 6
	maxSentenceBytes = 400
)

// Sentences yields the sentences in the prose of a text that are between minSentenceBytes and
// maxSentenceBytes bytes long. Fenced blocks, quotations, tables and indented code are skipped.
func Sentences(s string) iter.Seq[string] {
	return func(yield func(string) bool) { splitSentences(s, yield) }
}

// splitSentences calls fn with each sentence that [Sentences] yields, until fn returns false.
func splitSentences(s string, fn func(sentence string) bool) {
	fence := ""
	for line := range strings.Lines(s) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			continue
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			continue
		case trimmed == "", strings.ContainsRune(
			">|<{}",
			rune(trimmed[0]),
		), strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			continue
		}
		for trimmed = removeListMarker(trimmed); trimmed != ""; {
			n := findSentenceEnd(trimmed)
			sentence := strings.TrimSpace(trimmed[:n])
			trimmed = strings.TrimSpace(trimmed[n:])
			hasLength := len(sentence) >= minSentenceBytes && len(sentence) <= maxSentenceBytes
			if hasLength && !fn(sentence) {
				return
			}
		}
	}
}

// removeListMarker removes the list marker or the heading marker at the beginning of a line.
func removeListMarker(line string) string {
	rest := strings.TrimLeft(line, "-*+•#0123456789.)")
	isIndented := strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t")
	if isIndented && len(rest) < len(line) {
		return strings.TrimSpace(rest)
	}
	return line
}

// findSentenceEnd returns the offset after the first sentence in a line. If the line contains no end of a sentence, the
// result is len(line). A punctuation mark ends a sentence only if white space follows, so the periods in v1.2 and
// main.go do not end a sentence. A mark after a single letter, as in "e.g." or "J. Doe", does not end a sentence
// either. Chinese and Japanese punctuation marks always end a sentence.
func findSentenceEnd(line string) int {
	for i, r := range line {
		switch r {
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		case '.', '!', '?', '…':
			n := i + utf8.RuneLen(r)
			isBeforeSpace := n < len(line) && (line[n] == ' ' || line[n] == '\t')
			if isBeforeSpace && !endsWithInitial(line[:i]) {
				return n
			}
		}
	}
	return len(line)
}

// endsWithInitial reports whether a text ends with a single letter. A period after such a letter belongs to an
// abbreviation, such as "e.g.", "z. B." or "J. Doe".
func endsWithInitial(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
	return unicode.IsLetter(r) && r < 0x2e80 && (n == len(s) || before == '.' || before == ' ' || before == '(')
}

// normalizeSentence returns a sentence in the form that the patterns match: in lower case, without diacritics, and with
// spaces around each word and each punctuation mark. A run of Chinese or Japanese characters counts as a single word.
// An apostrophe separates two words: "don't" becomes "don t". Quotation marks, and marks of emphasis such as *, are
// dropped.
func normalizeSentence(sentence string) string {
	var b strings.Builder
	b.Grow(len(sentence) + 16)
	last := charClassSpace
	for _, r := range analysis.FoldText(sentence) {
		c := charClass(r)
		switch {
		case c == charClassQuote:
			continue
		case c == charClassSpace || last != c || c == charClassPunctuation:
			if last != charClassSpace || b.Len() == 0 {
				b.WriteByte(' ')
			}
		}
		switch last = c; {
		case c == charClassSpace:
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		default:
			b.WriteRune(toASCIIPunctuation(r))
		}
	}
	if last != charClassSpace {
		b.WriteByte(' ')
	}
	return b.String()
}

// Classes of characters. normalizeSentence uses them to split a text into words and marks.
const (
	charClassSpace = iota
	charClassWord
	charClassCJK // a Chinese or Japanese character
	charClassPunctuation
	charClassQuote // a quotation mark, or a mark of emphasis such as *
)

// asciiCharClasses contains the class of each ASCII character, such as charClassSpace.
var asciiCharClasses = func() (classes [utf8.RuneSelf]int8) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = int8(unicodeCharClass(r))
	}
	return classes
}()

func charClass(r rune) int {
	if r < utf8.RuneSelf {
		return int(asciiCharClasses[r])
	}
	return unicodeCharClass(r)
}

func unicodeCharClass(r rune) int {
	switch {
	case strings.ContainsRune("\"“”„«»`*_「」『』", r):
		return charClassQuote
	case unicode.IsSpace(r), r == '\'', r == '’', r == 0xfffd:
		return charClassSpace
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana), r == 'ー', r == '々':
		return charClassCJK
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return charClassWord
	}
	return charClassPunctuation
}

// toASCIIPunctuation returns the ASCII punctuation mark that corresponds to a mark of another script. Other characters
// are returned unchanged.
func toASCIIPunctuation(r rune) rune {
	switch r {
	case '，', '、':
		return ','
	case '：':
		return ':'
	case '。':
		return '.'
	case '？':
		return '?'
	case '！':
		return '!'
	case '–', '—':
		return '-'
	}
	return r
}
