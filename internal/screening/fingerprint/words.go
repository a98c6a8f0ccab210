// This file computes the hashes by which texts are compared: a hash for each run of six words, and for each short
// line.

// Package fingerprint finds texts that repeat words of earlier texts. It stores only hashes of the
// earlier texts.
//
// A text repeats another if they have a run of six words in common. Letter case, punctuation, compatible forms of a
// letter (NFKC), marks and zero-width characters are ignored. In scripts without spaces, a letter counts as half a
// word. A line or sentence that is shorter than a run is compared as a whole. If such a line or sentence has at least
// four words, it is also found inside a longer text.
package fingerprint

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// wordsPerWordRun is the number of words in a run. Texts that have a run in common repeat each other.
const wordsPerWordRun = text.MinCopiedWords

// The length of a sequence of words is measured in units. A word counts two units, and a letter in a script without
// spaces counts one. halfWordsPerWordRun is the minimum length of a sequence by which repeated text is recognized.
const (
	halfWordsPerWord    = 2
	halfWordsPerLetter  = 1
	halfWordsPerWordRun = wordsPerWordRun * halfWordsPerWord

	// A line or sentence that is shorter than halfWordsPerWordRun gets one hash for all its words. It gets none if it
	// has fewer units or letters than these minimums.
	minShortLineHalfWords = 3 * halfWordsPerWord
	minShortLineLetters   = 12

	// A short line of an earlier text may be repeated in the middle of a longer line. This is detected only if the
	// short line has at least these numbers of units (half words) and letters, because shorter lines are too common.
	minInnerLineHalfWords = 4 * halfWordsPerWord
	minInnerLineLetters   = 20
)

const (
	hashBasis         = 14695981039346656037
	hashPrime         = 1099511628211
	wordRunHashFactor = 0x9e3779b97f4a7c15
	// start value for a short line's hash, which makes it differ from the hash of a word sequence
	shortLineHashBasis = 0x5851f42d4c957f2d
)

// word is the hash of a normalized word in a text, with the word's length.
type word struct {
	hash         uint64
	halfWords    uint8
	letterCount  uint16
	isLastInLine bool // a line or sentence ends after this word
}

// mixBits returns a hash in which each bit depends on all bits of h.
func mixBits(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// wordScanner divides a text into words.
type wordScanner struct {
	words       []word
	hash        uint64
	letterCount int
}

func (s *wordScanner) endWord() {
	if s.letterCount > 0 {
		s.words = append(
			s.words,
			word{hash: s.hash, halfWords: halfWordsPerWord, letterCount: uint16(min(s.letterCount, 1<<15))},
		)
	}
	s.hash, s.letterCount = hashBasis, 0
}

func (s *wordScanner) endLine() {
	s.endWord()
	if n := len(s.words); n > 0 {
		s.words[n-1].isLastInLine = true
	}
}

// isInvisible reports whether a character is invisible, or is only a mark on another letter. Words are compared
// without such characters.
func isInvisible(r rune) bool {
	return r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' ||
		unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me)
}

// isASCII reports whether a text contains only ASCII characters.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// splitWords returns the words of a text.
func splitWords(content string) []word { return appendWords(nil, content) }

// appendWords splits the text content into words, appends their hashes to the slice words, and returns the extended
// slice. Letter case and accents do not change the hash of a word. appendWords also marks the ends of lines and
// sentences.
func appendWords(words []word, content string) []word {
	if !isASCII(content) && !norm.NFKD.IsNormalString(content) {
		content = norm.NFKD.String(content) // separate marks from their letters, so that the marks can be ignored
	}
	s := wordScanner{hash: hashBasis, words: slices.Grow(words, len(content)/5+1)}
	for i := 0; i < len(content); i++ {
		switch class := byteClasses[content[i]]; class {
		case wordByte:
			// Setting this bit makes letters lower-case. Digits have it already.
			s.hash = (s.hash ^ uint64(content[i]|0x20)) * hashPrime
			s.letterCount++
		case lineEndByte:
			s.endLine()
		case sentenceEndByte:
			if i+1 == len(content) || strings.IndexByte(" \n\r\t\"')*_", content[i+1]) >= 0 {
				s.endLine()
			} else {
				s.endWord()
			}
		case nonWordByte:
			s.endWord()
		case nonASCIIByte:
			r, size := utf8.DecodeRuneInString(content[i:])
			i += size - 1
			s.addRune(r)
		}
	}
	s.endLine()
	return s.words
}

// These classes say how a byte affects the division of a text into words.
const (
	nonWordByte     = iota // the byte is not part of a word and ends the word before it
	wordByte               // the byte belongs to a word
	lineEndByte            // the byte ends a line of the text
	sentenceEndByte        // the byte ends a sentence if white space or a closing sign follows
	apostropheByte         // the byte is an apostrophe, which is ignored, so that "don't" is a single word
	nonASCIIByte           // the byte belongs to a character outside ASCII, which is examined as a whole
)

// byteClasses contains the class of each byte.
var byteClasses = func() (class [256]byte) {
	for c := range class {
		switch b := byte(c); {
		case b >= utf8.RuneSelf:
			class[c] = nonASCIIByte
		case strings.IndexByte("\n\r", b) >= 0:
			class[c] = lineEndByte
		case strings.IndexByte(".!?;:", b) >= 0:
			class[c] = sentenceEndByte
		case b == '\'':
			class[c] = apostropheByte
		case b >= '0' && b <= '9', b|0x20 >= 'a' && b|0x20 <= 'z':
			class[c] = wordByte
		}
	}
	return class
}()

// addRune processes a character outside ASCII.
func (s *wordScanner) addRune(r rune) {
	switch {
	case isInvisible(r) || r == '’':
	case r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '。' || r == '！' || r == '？' || r == '；':
		s.endLine()
	case text.IsUnspacedScriptLetter(r):
		s.endWord()
		s.words = append(s.words, word{hash: mixRune(s.hash, r), halfWords: halfWordsPerLetter, letterCount: 2})
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		s.hash = mixRune(s.hash, unicode.ToLower(r))
		s.letterCount++
	default:
		s.endWord()
	}
}

// mixRune returns the hash of a word to which a character is appended.
func mixRune(h uint64, r rune) uint64 {
	for ; r > 0; r >>= 8 {
		h = (h ^ uint64(r&0xff)) * hashPrime
	}
	return h
}

// eachWordRun calls fn with the hash of each run of words. A run begins at each word, so that runs overlap. It ends
// when its words count as halfWordsPerWordRun half words or more. A normal word counts as two half words, and a letter
// of a script without spaces counts as one.
func eachWordRun(words []word, fn func(hash uint64)) {
	for i := range words {
		var h uint64
		units := 0
		for j := i; j < len(words); j++ {
			h = h*wordRunHashFactor + words[j].hash
			units += int(words[j].halfWords)
			if units >= halfWordsPerWordRun {
				fn(mixBits(h))
				break
			}
		}
		if units < halfWordsPerWordRun {
			return // Fewer words than a run remain from here on.
		}
	}
}

// eachShortLineHash calls fn with the hash of each short line or sentence. A line is short if it has fewer than
// halfWordsPerWordRun half words. A word counts as two half words, and a letter in a script without spaces counts as
// one half word. Lines with fewer than minShortLineHalfWords half words or fewer than minShortLineLetters letters are
// skipped.
func eachShortLineHash(words []word, fn func(hash uint64)) {
	for from := 0; from < len(words); {
		to := from
		for to < len(words)-1 && !words[to].isLastInLine {
			to++
		}
		h, units, letters := hashShortLine(words[from : to+1])
		isShort := units >= minShortLineHalfWords && units < halfWordsPerWordRun
		if isShort && letters >= minShortLineLetters {
			fn(mixBits(h))
		}
		from = to + 1
	}
}

func hashShortLine(words []word) (lineHash uint64, halfWordCount, letterCount int) {
	lineHash = shortLineHashBasis
	for i := range words {
		lineHash = lineHash*wordRunHashFactor + words[i].hash
		halfWordCount += int(words[i].halfWords)
		letterCount += int(words[i].letterCount)
		if halfWordCount >= halfWordsPerWordRun {
			break
		}
	}
	return lineHash, halfWordCount, letterCount
}

// eachShortWordSequence calls fn with the hash of each sequence of consecutive words that is as long as a short line of
// another text may be. If a short line of another text is repeated inside a longer line, one of the sequences is this
// line. Sequences with fewer than minInnerLineHalfWords half words or fewer than minInnerLineLetters letters are
// skipped, because they are too common.
func eachShortWordSequence(words []word, fn func(hash uint64)) {
	for i := range words {
		h := uint64(shortLineHashBasis)
		units := 0
		letters := 0
		for j := i; j < len(words); j++ {
			h = h*wordRunHashFactor + words[j].hash
			letters += int(words[j].letterCount)
			units += int(words[j].halfWords)
			if units >= halfWordsPerWordRun {
				break
			}
			if units >= minInnerLineHalfWords && letters >= minInnerLineLetters {
				fn(mixBits(h))
			}
		}
	}
}

// maxFullyHashedTextBytes limits the size, in bytes, of a text for which all hashes are stored. For a longer text, only
// the hashes for the first and for the last maxFullyHashedTextBytes bytes are stored. Clients shorten long texts in the
// same way.
const maxFullyHashedTextBytes = 512 << 10

// hashesToStore returns the hashes that are stored for a text that was read, without duplicates. coversWholeText is
// false if they cover only the beginning and the end of the text.
func hashesToStore(text string) (all []uint64, coversWholeText bool) {
	add := func(h uint64) { all = append(all, h) }
	coversWholeText = len(text) <= maxFullyHashedTextBytes
	if coversWholeText {
		eachReadTextHash(text, add)
	} else {
		eachReadTextHash(text[:maxFullyHashedTextBytes], add)
		eachReadTextHash(text[len(text)-maxFullyHashedTextBytes:], add)
	}
	slices.Sort(all)
	return slices.Compact(all), coversWholeText
}

// eachReadTextHash computes the hashes that are stored in the fingerprint file after an agent has read a text. It calls
// fn with each of these hashes.
func eachReadTextHash(text string, fn func(hash uint64)) {
	for _, form := range textVariants(text) {
		words := splitWords(form)
		eachWordRun(words, fn)
		eachShortLineHash(words, fn)
	}
	// The text may be the output from a program that prefixes some lines of a file, for example with a line number.
	// Remove the prefixes, so that the hashes of the file's original short lines are found, too.
	eachShortLineHash(splitWords(extractPrefixedLines(text)), fn)
}

// eachWrittenTextHash calls fn with each hash that is needed to compare a newly written text with earlier texts. If the
// text repeats words from an earlier text, one of these hashes equals a hash that was stored for the earlier text.
func eachWrittenTextHash(text string, fn func(hash uint64)) {
	for _, form := range textVariants(text) {
		words := splitWords(form)
		eachWordRun(words, fn)
		eachShortLineHash(words, fn)
		eachShortWordSequence(words, fn)
	}
}

// removeTags returns approximately the text that a browser shows for HTML. Tags that end a line, such as p, are
// replaced by a line break. If a tag is not closed, the rest of the text is left out.
func removeTags(s string) string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(s, "<")
		b.WriteString(text)
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
	return c == '/' || c == '!' || c == '?' || (c|0x20 >= 'a' && c|0x20 <= 'z')
}

// isBlockTag reports whether a browser ends the line at a tag. It does so at the tag p, but not at the tags b and span.
// The argument tag is the text between the signs < and >.
func isBlockTag(tag string) bool {
	name, _, _ := strings.Cut(strings.ToLower(strings.Trim(tag, "/ ")), " ")
	return slices.Contains(
		[]string{"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "section",
			"title"},
		name,
	)
}

// removeToolLinePrefixes removes the prefixes that tools print before lines, such as the number in "12→" and the file
// name and number in "a/b.md:12:". It returns true if most lines have such a prefix. Otherwise the caller must not use
// the text.
func removeToolLinePrefixes(s string) (string, bool) {
	var b strings.Builder
	prefixed, lines := 0, 0
	if !mayHaveLinePrefixes(s) {
		return s, false
	}
	for line := range strings.Lines(s) {
		rest, ok := removeToolLinePrefix(line)
		if ok {
			prefixed++
		}
		// Omit lines that lack a space, such as JSON keys, from the count, because tools print no line number or file
		// name before them.
		if ok || strings.Contains(strings.TrimSpace(line), " ") {
			lines++
		}
		b.WriteString(rest)
	}
	return b.String(), lines > 0 && prefixed*2 > lines
}

// extractPrefixedLines returns only the lines that begin with a line number or file name, as tools print them. The
// numbers and names are removed.
func extractPrefixedLines(s string) string {
	if !mayHaveLinePrefixes(s) {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		if rest, ok := removeToolLinePrefix(line); ok {
			b.WriteString(rest)
		}
	}
	return b.String()
}

// removeToolLinePrefix removes the prefix that a program, such as grep, puts before a line of a file, for example a
// line number or a file name. If the line has no such prefix, removeToolLinePrefix returns the line unchanged, and ok
// is false.
func removeToolLinePrefix(line string) (rest string, ok bool) {
	if !mayHaveLinePrefix(line) {
		return line, false
	}
	for _, sep := range []string{"→", "\t", ":", "|", ") "} {
		head, tail, ok := strings.Cut(line, sep)
		if !ok || len(head) > 120 {
			continue
		}
		if !isToolLinePrefix(head) {
			continue
		}
		if sep == ":" { // A file name may be followed by a line number, as in main.go:12:text.
			if number, tail, ok := strings.Cut(tail, ":"); ok && isNumber(number) {
				return tail, true
			}
		}
		return tail, true
	}
	return line, false
}

// mayHaveLinePrefix quickly checks whether a line may begin with a line number or file name, as tools print them before
// lines. It returns true if the first word contains a character that may end such a prefix. Most lines of prose
// contain no such word, and need no slower check.
func mayHaveLinePrefix(line string) bool {
	const firstOfArrow = 0xe2 // first byte of the arrow "→" in UTF-8
	inWord := false
	for i := range len(line) {
		switch line[i] {
		case ' ':
			if inWord {
				return false
			}
		case '\t', ':', '|', ')', firstOfArrow:
			return true
		default:
			inWord = true
		}
	}
	return false
}

// mayHaveLinePrefixes reports whether at least one line of a text may begin with a prefix that tools print before
// lines, such as a line number or a file name.
func mayHaveLinePrefixes(text string) bool {
	for line := range strings.Lines(text) {
		if mayHaveLinePrefix(line) {
			return true
		}
	}
	return false
}

// isToolLinePrefix reports whether s is a line number or a file name, as programs print it before the text of a line.
// Spaces before the number or name are ignored. Any other text without spaces counts as a file name if it contains a
// period or a slash.
func isToolLinePrefix(s string) bool {
	s = strings.TrimLeft(s, " ")
	return isNumber(s) || (s != "" && !strings.Contains(s, " ") && strings.ContainsAny(s, "./"))
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
