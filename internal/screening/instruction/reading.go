// This file undoes the ways to write a text so that a model reads it as usual and a search
// for words does not find them.

package instruction

import (
	"bytes"
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A text is examined in up to three readings. All are in lower case, contain no invisible
// characters, and begin with a line break:
//
//   - as it is written,
//   - with each letter that looks like one of ASCII replaced by that one: full-width,
//     mathematical and circled letters, letters with accents, look-alikes of other scripts,
//   - with its words put together: one letter a space, words joined by signs such as an
//     underscore, one word a line.

// visible returns a text without the characters that a reader does not see: characters
// without width, controls, and the escape sequences of terminals.
func visible(low string) string {
	b := make([]byte, 0, len(low))
	for i := 0; i < len(low); {
		c, n := utf8.DecodeRuneInString(low[i:])
		switch {
		case c == '\x1b':
			n = escapeSize(low[i:])
		case c != '\n' && c != '\t' && c != '\r' && unicode.IsControl(c), isInvisible(c):
		default:
			b = append(b, low[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// escapeSize returns the number of bytes of the terminal's escape sequence that a text
// begins with. An unfinished or unknown sequence has one.
func escapeSize(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s) && s[i] >= ' ' && s[i] <= '~'; i++ {
		if s[i] >= '@' {
			return i + 1
		}
	}
	return 1
}

// hidesLetters reports whether a text has a control character with which a terminal hides
// letters: an escape, a backspace, a zero byte.
func hidesLetters(text string) bool {
	return strings.IndexByte(text, '\x1b') >= 0 || strings.IndexByte(text, '\b') >= 0 || strings.IndexByte(text, 0) >= 0
}

// isInvisible reports whether a character has no width, as [unicode.Other_Default_Ignorable_Code_Point]
// and the controls of direction and format have none.
func isInvisible(c rune) bool {
	return c >= 0xAD && (unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c))
}

//go:embed letters.txt
var letterSource string

// letters maps a character to the characters of ASCII that it looks like, in lower case.
// letters.txt has a line for each text of ASCII, a tab, and the characters that look
// like it. The test of that file makes it of Unicode's compatibility decompositions.
var letters = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string, len(letterSource)/3)
	for line := range strings.Lines(letterSource) {
		ascii, like, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, c := range like {
			m[c] = ascii
		}
	}
	return m
})

// skeleton returns a text in which each character that looks like one of ASCII is replaced
// by that one, accents are removed, and signs and spaces are those of ASCII.
func skeleton(low string) string {
	like := letters()
	b := make([]byte, 0, len(low))
	for _, c := range low {
		switch ascii, found := like[c]; {
		case c < utf8.RuneSelf:
			b = append(b, byte(c))
		case found:
			b = append(b, ascii...)
		case unicode.Is(unicode.M, c):
		case unicode.IsSpace(c):
			b = append(b, ' ')
		case unicode.IsPunct(c) || unicode.IsSymbol(c):
			b = append(b, '-')
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return string(b)
}

// isSpace reports whether a byte is white space.
func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

// flow returns a text in which runs of white space are one space, or one line break at
// the end of a paragraph or before an item of a list. Most texts are broken into lines
// anywhere in a sentence. It also reports whether several lines in a row have no more than
// two words.
func flow(low string) (flowing string, hasShortLines bool) {
	b := []byte(low)
	short := 0
	for from := 1; from < len(b); {
		n := strings.IndexByte(low[from:], '\n')
		if n < 0 {
			break
		}
		if n > mostShortLine {
			short = 0
		} else if n > 0 {
			short++
			if !isShort(low[from : from+n]) {
				short = 0
			}
			hasShortLines = hasShortLines || short >= leastShortLines
		}
		from += n + 1
		if n > 0 && from < len(b) && (isLetter(b[from]) || (b[from] != '\n' && !isItem(low[from:]))) {
			b[from-1] = ' '
		}
	}
	if hasGaps(b) {
		b = squeeze(b)
	}
	return string(b), hasShortLines
}

// hasGaps reports whether a text has white space other than single spaces and line breaks.
func hasGaps(b []byte) bool {
	return bytes.Contains(b, []byte("  ")) || bytes.IndexByte(b, '\t') >= 0 || bytes.IndexByte(b, '\r') >= 0 || bytes.Contains(b, []byte("\n ")) ||
		bytes.IndexByte(b, '\v') >= 0 || bytes.IndexByte(b, '\f') >= 0
}

// squeeze replaces each run of white space by a line break, if the run has one, or a space.
// Lines that have only white space are removed.
func squeeze(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		from := i
		for i < len(b) && !isSpace(b[i]) {
			i++
		}
		out = append(out, b[from:i]...)
		sep := byte(' ')
		for from = i; i < len(b) && isSpace(b[i]); i++ {
			if b[i] == '\n' {
				sep = '\n'
			}
		}
		if i > from {
			out = append(out, sep)
		}
	}
	return out
}

// isShort reports whether a line has no more than [mostShortWords] words.
func isShort(line string) bool {
	line = strings.TrimSpace(line)
	for range mostShortWords {
		_, rest, found := strings.Cut(line, " ")
		if !found {
			return true
		}
		line = strings.TrimLeft(rest, " ")
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// isItem reports whether a line begins as an item of a list, a heading or a quotation does.
func isItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if line == "" || strings.IndexByte("-*#>|+", line[0]) >= 0 {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && digits < 4 && len(line) > digits && (line[digits] == '.' || line[digits] == ')')
}

// Bounds of what is put together.
const (
	mostShortLine   = 40 // bytes of such a line
	mostShortWords  = 2  // of a line that has only a word or two
	leastShortLines = 3  // such lines in a row
	leastSpelled    = 5  // letters in a row that stand alone
	leastChain      = 2  // signs that join words, in a row
	leastSquashed   = 16 // letters of what may be several words
	mostSquashed    = 16 // such words of a text that are examined
)

// piece is a word of a text and what is between it and the next one.
type piece struct{ word, gap string }

// piecesOf returns the words of a text. What is before the first word is the gap of an
// empty word.
func piecesOf(s string) []piece {
	isGap := func(i int) bool { return (s[i] < utf8.RuneSelf && !isWord(s[i])) || s[i] == '_' }
	var all []piece
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && !isGap(i) {
			i++
		}
		word := s[from:i]
		for from = i; i < len(s) && isGap(i); i++ {
		}
		all = append(all, piece{word, s[from:i]})
	}
	return all
}

// respell returns a reading of a text in which words that were taken apart are put
// together, and the words that may be several ones without anything between them.
func respell(low string) (words string, squashed []string) {
	all := piecesOf(joinShortLines(low))
	var b strings.Builder
	for i := 0; i < len(all); {
		if n := spelledOut(all[i:]); n >= leastSpelled {
			run := putTogether(&b, all[i:i+n])
			squashed = append(squashed, run)
			i += n
			continue
		}
		n := chainOf(all[i:])
		for _, p := range all[i : i+n] {
			b.WriteString(p.word + strings.TrimSuffix(p.gap, all[i].gap) + " ")
			squashed = appendLong(squashed, p.word)
		}
		b.WriteString(all[i+n].word + withoutEmphasis(all[i+n].gap))
		squashed = appendLong(squashed, all[i+n].word)
		i += n + 1
	}
	words, _ = flow("\n" + strings.TrimLeft(b.String(), "\n"))
	return words, squashed[:min(len(squashed), mostSquashed)]
}

func appendLong(squashed []string, word string) []string {
	if len(word) < leastSquashed {
		return squashed
	}
	return append(squashed, word)
}

// withoutEmphasis returns what is between two words without the signs that make them bold
// or italic.
func withoutEmphasis(gap string) string {
	if strings.IndexByte(gap, ' ') < 0 {
		return gap
	}
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("*_~`", c) {
			return -1
		}
		return c
	}, gap)
}

// spelledOut returns how many letters that stand alone a text begins with.
func spelledOut(all []piece) int {
	const widest = 8 // bytes between two letters
	n := 0
	for n < len(all) && utf8.RuneCountInString(all[n].word) == 1 && (all[n].word < "0" || all[n].word > "9") {
		n++
		if g := all[n-1].gap; len(g) > widest || strings.Contains(g, "\n\n") {
			break
		}
	}
	return n
}

// putTogether writes letters that stand alone as words: the gap that is between most of
// them is within words, and any other ends a word. It returns them as one word.
func putTogether(b *strings.Builder, letters []piece) (run string) {
	count := map[string]int{}
	common := letters[0].gap
	for _, p := range letters[:len(letters)-1] {
		count[p.gap]++
		if count[p.gap] > count[common] {
			common = p.gap
		}
	}
	var all strings.Builder
	for i, p := range letters {
		b.WriteString(p.word)
		all.WriteString(p.word)
		switch {
		case i == len(letters)-1:
			b.WriteString(p.gap)
		case p.gap != common:
			signs := strings.ReplaceAll(p.gap, common, "")
			b.WriteString(signs)
			if signs == "" || strings.Contains(p.gap, common+common) {
				b.WriteByte(' ')
			}
		}
	}
	return all.String()
}

// chainOf returns how many words at the beginning are each joined with the next one by
// the same sign, or 0 for fewer than [leastChain].
func chainOf(all []piece) int {
	sign := all[0].gap
	if len(sign) != 1 || strings.IndexByte("_-.*~+/|,:;=\\", sign[0]) < 0 {
		return 0
	}
	n := 1
	for n < len(all)-1 && len(all[n].gap) <= 3 && strings.HasSuffix(all[n].gap, sign) {
		n++
	}
	if n < leastChain || n == len(all) {
		return 0
	}
	return n
}

// joinShortLines returns a text in which lines of no more than two words are one line,
// if there are several in a row. Empty lines between them do not count.
func joinShortLines(low string) string {
	var b, run, joined strings.Builder
	n := 0
	end := func() {
		if n < leastShortLines {
			b.WriteString(run.String())
		} else {
			b.WriteString(joined.String() + "\n")
		}
		n = 0
		run.Reset()
		joined.Reset()
	}
	for line := range strings.Lines(low) {
		words := strings.Fields(strings.TrimLeft(line, " \t-*#>|+0123456789.)"))
		if len(words) > mostShortWords {
			end()
			b.WriteString(line)
			continue
		}
		run.WriteString(line)
		if len(words) > 0 {
			n++
			joined.WriteString(strings.Join(words, " ") + " ")
		}
	}
	end()
	return b.String()
}
