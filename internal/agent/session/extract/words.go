// Cuts a text into sentences, and a sentence into words that patterns match.

// Package extract finds in texts what is worth keeping, by a table of patterns
// in seven languages and without a model: what a person asked to remember, that
// a person corrected an agent, and what an agent found out. A pattern that is
// unsure finds nothing.
package extract

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Bounds of a sentence, in bytes. What is longer is no remark but a pasted text.
const (
	minSentence = 6
	maxSentence = 400
)

// Sentences yields the sentences of the prose of a text, at most maxSentence bytes
// each. Fenced blocks, quotations, tables and indented code are no prose.
func Sentences(s string) iter.Seq[string] {
	return func(yield func(string) bool) { sentences(s, yield) }
}

func sentences(s string, fn func(sentence string) bool) {
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
		for trimmed = withoutBullet(trimmed); trimmed != ""; {
			n := sentenceEnd(trimmed)
			sentence := strings.TrimSpace(trimmed[:n])
			trimmed = strings.TrimSpace(trimmed[n:])
			if len(sentence) >= minSentence && len(sentence) <= maxSentence && !fn(sentence) {
				return
			}
		}
	}
}

// withoutBullet returns a line without the sign of a list or a heading.
func withoutBullet(line string) string {
	rest := strings.TrimLeft(line, "-*+•#0123456789.)")
	if len(rest) < len(line) && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t")) {
		return strings.TrimSpace(rest)
	}
	return line
}

// sentenceEnd returns where the first sentence of a line ends. A mark ends one
// if white space follows, so that v1.2 and main.go do not; those of Chinese and
// Japanese always do.
func sentenceEnd(line string) int {
	for i, r := range line {
		switch r {
		case '。', '！', '？':
			return i + utf8.RuneLen(r)
		case '.', '!', '?', '…':
			n := i + utf8.RuneLen(r)
			if n < len(line) && (line[n] == ' ' || line[n] == '\t') && !isShort(line[:i]) {
				return n
			}
		}
	}
	return len(line)
}

// isShort reports whether a text ends with one letter, as before the stop of
// "e.g.", "z. B." and "J. Doe".
func isShort(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-n])
	return unicode.IsLetter(r) && r < 0x2e80 && (n == len(s) || before == '.' || before == ' ' || before == '(')
}

// words returns a sentence in the form that patterns match: folded, one space
// around each word and each mark. Runs of Chinese and Japanese, which have no
// spaces, are one word. Apostrophes part words: don't is "don t".
func words(sentence string) string {
	var b strings.Builder
	b.Grow(len(sentence) + 16)
	last := classSpace
	for _, r := range analysis.Fold(sentence) {
		c := classOf(r)
		switch {
		case c == classQuote:
			continue
		case c == classSpace || last != c || c == classMark:
			if last != classSpace || b.Len() == 0 {
				b.WriteByte(' ')
			}
		}
		switch last = c; {
		case c == classSpace:
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		default:
			b.WriteRune(asciiMark(r))
		}
	}
	if last != classSpace {
		b.WriteByte(' ')
	}
	return b.String()
}

// The classes of characters.
const (
	classSpace = iota
	classWord
	classEast // Chinese and Japanese
	classMark
	classQuote // dropped: it stands around words
)

// asciiClass are the classes of ASCII.
var asciiClass = func() (classes [utf8.RuneSelf]int8) {
	for r := range rune(utf8.RuneSelf) {
		classes[r] = int8(slowClassOf(r))
	}
	return classes
}()

func classOf(r rune) int {
	if r < utf8.RuneSelf {
		return int(asciiClass[r])
	}
	return slowClassOf(r)
}

func slowClassOf(r rune) int {
	switch {
	case strings.ContainsRune("\"“”„«»`*_「」『』", r):
		return classQuote
	case unicode.IsSpace(r), r == '\'', r == '’', r == 0xfffd:
		return classSpace
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana), r == 'ー', r == '々':
		return classEast
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return classWord
	}
	return classMark
}

// asciiMark returns the mark of ASCII that stands for one of another script.
func asciiMark(r rune) rune {
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
