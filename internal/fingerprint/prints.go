// This file turns a text into prints: hashes of its runs of six words.

// Package fingerprint finds out whether a text repeats words of texts that were read
// earlier. It keeps hashes of these texts, not the texts.
//
// Two texts share words if they have a run of [RunWords] words in common. Letter case,
// punctuation, forms of the same letter (NFKC), marks and characters without width do not
// count. In scripts that are written without spaces a letter counts as half a word. A line
// or sentence that is shorter than a run is found by itself: as a whole line or sentence,
// or, if it has at least four words, anywhere in a text.
package fingerprint

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// RunWords is the number of words in a row that two texts share if one repeats the other.
const RunWords = 6

// A word counts as two units, a letter of an unspaced script as one.
const (
	wordUnits   = 2
	letterUnits = 1
	runUnits    = RunWords * wordUnits

	// A line or sentence below runUnits is printed as a whole if it has at least these
	// units and letters.
	shortUnits   = 3 * wordUnits
	shortLetters = 12

	// Inside of a longer text, a short line is only looked for if it has at least these
	// units and letters. Shorter ones are too common.
	innerUnits   = 4 * wordUnits
	innerLetters = 20
)

// Print is the hash of a run of words. It has [printBits] bits.
type Print uint64

const (
	printBits = 40
	printMask = 1<<printBits - 1

	hashBasis  = 14695981039346656037
	hashPrime  = 1099511628211
	runFactor  = 0x9e3779b97f4a7c15
	shortBasis = 0x5851f42d4c957f2d // tells a whole short line from a run
)

// word is a word of a text in its normal form.
type word struct {
	hash    uint64
	units   uint8
	letters uint16
	ends    bool // a line or sentence ends after the word
}

// finish mixes the bits of a hash, of which the lower ones are kept.
func finish(h uint64) Print {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return Print(h & printMask)
}

// scanner cuts a text into words.
type scanner struct {
	seed    uint64
	words   []word
	hash    uint64
	letters int
}

func (s *scanner) endWord() {
	if s.letters > 0 {
		s.words = append(s.words, word{hash: s.hash, units: wordUnits, letters: uint16(min(s.letters, 1<<15))})
	}
	s.hash, s.letters = hashBasis^s.seed, 0
}

func (s *scanner) endLine() {
	s.endWord()
	if n := len(s.words); n > 0 {
		s.words[n-1].ends = true
	}
}

// isUnspaced reports whether the letter is of a script that is written without spaces.
func isUnspaced(r rune) bool {
	return r >= '\u0e01' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// isInvisible reports whether a character does not show: it is left out of a word.
func isInvisible(r rune) bool {
	return r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me)
}

// isASCII reports whether a text has no other characters.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// wordsOf returns the words of a text.
func wordsOf(text string, seed uint64) []word {
	if !isASCII(text) && !norm.NFKD.IsNormalString(text) {
		text = norm.NFKD.String(text) // which takes the marks off their letters
	}
	s := scanner{seed: seed, hash: hashBasis ^ seed, words: make([]word, 0, len(text)/5+1)}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			s.hash = (s.hash ^ uint64(c)) * hashPrime
			s.letters++
		case c >= 'A' && c <= 'Z':
			s.hash = (s.hash ^ uint64(c|0x20)) * hashPrime
			s.letters++
		case c == '\n' || c == '\r':
			s.endLine()
		case c < utf8.RuneSelf:
			if isEnd := strings.IndexByte(".!?;:", c) >= 0; isEnd && (i+1 == len(text) || strings.IndexByte(" \n\r\t\"')*_", text[i+1]) >= 0) {
				s.endLine()
			} else if c != '\'' { // so that "don't" is one word, however it is quoted
				s.endWord()
			}
		default:
			r, size := utf8.DecodeRuneInString(text[i:])
			i += size - 1
			s.rune(r)
		}
	}
	s.endLine()
	return s.words
}

// rune adds a character that is not ASCII.
func (s *scanner) rune(r rune) {
	switch {
	case isInvisible(r) || r == '’':
	case r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '。' || r == '！' || r == '？' || r == '；':
		s.endLine()
	case isUnspaced(r):
		s.endWord()
		s.words = append(s.words, word{hash: mixRune(s.hash, r), units: letterUnits, letters: 2})
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		s.hash = mixRune(s.hash, unicode.ToLower(r))
		s.letters++
	default:
		s.endWord()
	}
}

// mixRune adds a character to a hash.
func mixRune(h uint64, r rune) uint64 {
	for ; r > 0; r >>= 8 {
		h = (h ^ uint64(r&0xff)) * hashPrime
	}
	return h
}

// runs calls fn with the print of each run of words.
func runs(words []word, fn func(Print)) {
	for i := range words {
		var h uint64
		units := 0
		for j := i; j < len(words); j++ {
			h = h*runFactor + words[j].hash
			if units += int(words[j].units); units >= runUnits {
				fn(finish(h))
				break
			}
		}
		if units < runUnits {
			return // nor has any later word enough behind it
		}
	}
}

// shortLines calls fn with the print of each line and each sentence that is shorter than
// a run.
func shortLines(words []word, fn func(Print)) {
	for from := 0; from < len(words); {
		to := from
		for to < len(words)-1 && !words[to].ends {
			to++
		}
		if h, units, letters := shortHash(words[from : to+1]); units >= shortUnits && units < runUnits && letters >= shortLetters {
			fn(finish(h))
		}
		from = to + 1
	}
}

func shortHash(words []word) (h uint64, units, letters int) {
	h = shortBasis
	for i := range words {
		h = h*runFactor + words[i].hash
		units += int(words[i].units)
		letters += int(words[i].letters)
		if units >= runUnits {
			break
		}
	}
	return h, units, letters
}

// innerLines calls fn with the prints that a short line would have which stands anywhere
// between the words.
func innerLines(words []word, fn func(Print)) {
	for i := range words {
		h, units, letters := uint64(shortBasis), 0, 0
		for j := i; j < len(words); j++ {
			h = h*runFactor + words[j].hash
			letters += int(words[j].letters)
			if units += int(words[j].units); units >= runUnits {
				break
			}
			if units >= innerUnits && letters >= innerLetters {
				fn(finish(h))
			}
		}
	}
}

// Bounds of the prints of one text that was read.
const (
	maxRead      = 4 << 20 // bytes
	wholePrints  = 1 << 16 // of so many runs each is kept; of more, one in every window
	windowPrints = 4
)

// ofRead returns the prints that are kept of a text that was read, each once. Of a very
// long text, one print in each window of four is kept, so that runs of nine words are
// sure to be found.
func ofRead(text string, seed uint64) []Print {
	text = text[:min(len(text), maxRead)]
	var all []Print
	for _, form := range formsOf(text) {
		words := wordsOf(form, seed)
		first := len(all)
		runs(words, func(p Print) { all = append(all, p) })
		if len(all)-first > wholePrints {
			all = append(all[:first], winnowed(all[first:])...)
		}
		shortLines(words, func(p Print) { all = append(all, p) })
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// winnowed returns the least print of each window.
func winnowed(prints []Print) (some []Print) {
	last := -1
	for i := 0; i+windowPrints <= len(prints); i++ {
		least := i
		for j := i + 1; j < i+windowPrints; j++ {
			if prints[j] <= prints[least] {
				least = j
			}
		}
		if least != last {
			some, last = append(some, prints[least]), least
		}
	}
	return some
}

// ofWritten calls fn with all prints by which a text may be found to repeat another.
func ofWritten(text string, seed uint64, fn func(Print)) {
	for _, form := range formsOf(text) {
		words := wordsOf(form, seed)
		runs(words, fn)
		shortLines(words, fn)
		innerLines(words, fn)
	}
}

// formsOf returns a text and the forms in which a reader may repeat it: without the tags
// of HTML, without the numbers and names that tools print in front of lines, with the
// escapes of JSON resolved, and with the lines of a column joined.
func formsOf(text string) []string {
	forms := []string{text}
	if strings.Contains(text, "</") || strings.Contains(text, "/>") || strings.Contains(text, "&#") || strings.Contains(text, "&amp;") || strings.Contains(text, "<br") {
		forms = append(forms, withoutTags(text))
	}
	if strings.Contains(text, `\n`) || strings.Contains(text, `\u`) || strings.Contains(text, `\t`) {
		forms = append(forms, unescaped([]byte(text)))
	}
	if s, changed := withoutPrefixes(text); changed {
		forms = append(forms, s)
	}
	return forms
}

// withoutTags returns the text that a browser shows of HTML, about.
func withoutTags(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "<")
		b.WriteString(before)
		if !ok {
			break
		}
		if rest == "" || !isTagStart(rest[0]) {
			b.WriteByte('<')
			s = rest
			continue
		}
		tag, after, closed := strings.Cut(rest, ">")
		if !closed {
			break
		}
		if isBlockTag(tag) {
			b.WriteByte('\n')
		}
		s = after
	}
	return html.UnescapeString(b.String())
}

func isTagStart(c byte) bool {
	return c == '/' || c == '!' || c == '?' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// isBlockTag reports whether a tag ends a line. Tags such as b and span do not.
func isBlockTag(tag string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(tag, "/ ")), " ")
	return slices.Contains([]string{"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "section", "title"}, name)
}

// withoutPrefixes returns a text without the numbers, file names and marks that tools
// print in front of lines, such as "12→", "a/b.md:12:" and "> ", if most lines have one.
func withoutPrefixes(s string) (string, bool) {
	var b strings.Builder
	with, lines := 0, 0
	for line := range strings.Lines(s) {
		lines++
		rest := line
		for _, sep := range []string{"→", "\t", ":", "|", ") "} {
			head, tail, ok := strings.Cut(line, sep)
			if ok && len(head) <= 120 && isLinePrefix(head) {
				rest = tail
				if sep == ":" { // a name and a number
					if number, tail, ok := strings.Cut(tail, ":"); ok && isNumber(number) {
						rest = tail
					}
				}
				with++
				break
			}
		}
		b.WriteString(rest)
	}
	return b.String(), lines > 0 && with*2 > lines
}

// isLinePrefix reports whether a text is a number, or a name of a file, with nothing but
// blanks in front.
func isLinePrefix(s string) bool {
	s = strings.TrimLeft(s, " ")
	return isNumber(s) || s != "" && !strings.Contains(s, " ") && strings.ContainsAny(s, "./")
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
