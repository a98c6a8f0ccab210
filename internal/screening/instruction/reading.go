// This file normalizes texts before they are searched for words. It finds words that a model recognizes but a simple
// search does not, such as "i g n o r e" or "ig*nore".

package instruction

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A text is examined in up to three readings. Each is in lower case, does not contain invisible characters, and begins
// with a line break:
//
//   - the text as written,
//   - the text with ASCII letters in place of their look-alikes: full-width, mathematical, circled and
//     accented letters, and look-alikes of other scripts,
//   - the text with split words joined: single letters with spaces, words joined by signs such as an
//     underscore, and one word per line.

// removeInvisibleChars returns a text without its invisible characters, control characters and terminal escape
// sequences.
func removeInvisibleChars(lowerText string) string {
	b := make([]byte, 0, len(lowerText))
	for i := 0; i < len(lowerText); {
		c, n := utf8.DecodeRuneInString(lowerText[i:])
		switch {
		case c == '\x1b':
			n = countEscapeBytes(lowerText[i:])
		case c != '\n' && c != '\t' && c != '\r' && unicode.IsControl(c), isInvisible(c):
		default:
			b = append(b, lowerText[i:i+n]...)
		}
		i += n
	}
	return string(b)
}

// countEscapeBytes returns how many bytes the terminal escape sequence at the start of a text has. It returns 1 if the
// sequence is unfinished or unknown.
func countEscapeBytes(s string) int {
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

// hasLetterHidingChars reports whether a text contains a control character that hides letters on a terminal: an escape,
// a backspace or a zero byte.
func hasLetterHidingChars(text string) bool {
	return strings.IndexByte(text, '\x1b') >= 0 || strings.IndexByte(text, '\b') >= 0 || strings.IndexByte(text, 0) >= 0
}

// isInvisible reports whether a character has zero width. Such a character is in
// [unicode.Other_Default_Ignorable_Code_Point], or is a variation selector or a format character.
func isInvisible(c rune) bool {
	return c >= 0xAD && (unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Variation_Selector, c) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c))
}

//go:embed letters.txt
var lookalikeTableText string

// lookalikes maps a character to the ASCII characters that the character looks like, in lower case. Each line of
// letters.txt contains an ASCII text, a tab, and the characters that look like the ASCII text. A test derives the
// content of letters.txt from Unicode's compatibility decompositions, and compares the file with this content.
var lookalikes = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string, len(lookalikeTableText)/3)
	for line := range strings.Lines(lookalikeTableText) {
		ascii, like, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, c := range like {
			m[c] = ascii
		}
	}
	return m
})

// ReplaceLookalikes replaces each character of a text that looks like ASCII characters by these ASCII characters, and
// removes accents. It replaces other signs by hyphens, and other white space by spaces. The text must be in lower
// case.
func ReplaceLookalikes(lowerText string) string {
	like := lookalikes()
	b := make([]byte, 0, len(lowerText))
	for _, c := range lowerText {
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

func isSpace(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

// joinLines puts each paragraph and each list item of a text on a single line, with single spaces between words. The
// rules can then find a phrase that was broken across lines. The text must begin with a line break. The result
// hasShortLines reports whether the text has at least minConsecutiveShortLines consecutive lines with at most
// maxShortLineWords words and at most maxShortLineBytes bytes. Empty lines between these lines are ignored.
func joinLines(lowerText string) (joined string, hasShortLines bool) {
	var changed []byte // the text with replaced white space (nil if nothing was replaced yet)
	shortLines := 0
	for lineStart := 1; lineStart < len(lowerText); {
		n := strings.IndexByte(lowerText[lineStart:], '\n')
		if n < 0 {
			break
		}
		if n > maxShortLineBytes {
			shortLines = 0
		} else if n > 0 {
			shortLines++
			if !isShortLine(lowerText[lineStart : lineStart+n]) {
				shortLines = 0
			}
			hasShortLines = hasShortLines || shortLines >= minConsecutiveShortLines
		}
		lineStart += n + 1
		hasNext := n > 0 && lineStart < len(lowerText)
		if hasNext && mayContinueSentence(lowerText[lineStart:]) {
			if changed == nil {
				changed = []byte(lowerText)
			}
			changed[lineStart-1] = ' '
		}
	}
	joined = lowerText
	if changed != nil {
		joined = string(changed)
	}
	if hasCollapsibleSpaces(joined) {
		joined = collapseSpaces(joined)
	}
	return joined, hasShortLines
}

// hasCollapsibleSpaces reports whether the text contains spaces that collapseSpaces would change. These are tabs,
// carriage returns, vertical tabs, form feeds, several spaces in a row, and a space at the start of a line.
func hasCollapsibleSpaces(s string) bool {
	return strings.Contains(s, "  ") || strings.IndexByte(s, '\t') >= 0 || strings.IndexByte(s, '\r') >= 0 ||
		strings.Contains(s, "\n ") ||
		strings.IndexByte(s, '\v') >= 0 || strings.IndexByte(s, '\f') >= 0
}

// collapseSpaces replaces each run of white space by a single line break if the run contains a line break, and
// otherwise by a single space. Therefore the result does not contain blank lines.
func collapseSpaces(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && !isSpace(s[i]) {
			i++
		}
		out = append(out, s[from:i]...)
		sep := byte(' ')
		for from = i; i < len(s) && isSpace(s[i]); i++ {
			if s[i] == '\n' {
				sep = '\n'
			}
		}
		if i > from {
			out = append(out, sep)
		}
	}
	return string(out)
}

// isShortLine reports whether a line has at most maxShortLineWords words.
func isShortLine(line string) bool {
	line = strings.TrimSpace(line)
	for range maxShortLineWords {
		_, rest, found := strings.Cut(line, " ")
		if !found {
			return true
		}
		line = strings.TrimLeft(rest, " ")
	}
	return false
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' }

// isListItem reports whether a line begins like a list item, a heading or a quotation. It also returns true for a blank
// line.
func isListItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	if line == "" || strings.IndexByte("-*#>|+", line[0]) >= 0 {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && digits < 4 && len(line) > digits && (line[digits] == '.' || line[digits] == ')')
}

// Limits for joining split words.
const (
	maxShortLineBytes        = 40 // maximum length of a short line in bytes
	maxShortLineWords        = 2  // maximum number of words in a short line
	minConsecutiveShortLines = 3  // So many consecutive lines of one or two words are joined to a sentence.
	minJoinedSingleLetters   = 5  // So many single letters in a row, such as "i g n o r e", are joined to a word.
	// If one sign joins at least this number of words to the next word, as in "ignore-all-rules", the words are
	// separated.
	minWordsJoinedBySign = 2
	// A word of at least so many letters may be several words without the spaces between them.
	minUnspacedLetters = 16
	// Maximum number of long words in a text that are examined because they may be several words without spaces.
	maxUnspacedWords = 16
)

// wordAndGap is a word of a text, with the characters between the word and the next word.
type wordAndGap struct{ word, gapAfter string }

// splitWordsAndGaps divides a text into words and the gaps after them. If the text does not begin with a word, the
// word of the first piece is empty.
//
// The pieces are appended to the parameter all, which may be empty.
func splitWordsAndGaps(s string, all []wordAndGap) []wordAndGap {
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && !isGapByte[s[i]] {
			i++
		}
		word := s[from:i]
		for from = i; i < len(s) && isGapByte[s[i]]; i++ {
		}
		all = append(all, wordAndGap{word, s[from:i]})
	}
	return all
}

// isGapByte has the value true for each byte that can be between words.
var isGapByte = func() (is [256]bool) {
	for c := range byte(utf8.RuneSelf) {
		is[c] = !isWordByte(c) || c == '_'
	}
	return is
}()

// wordsAndGapsPool contains slices for splitWordsAndGaps to reuse, because most texts are short and many texts are
// examined in a row.
var wordsAndGapsPool = sync.Pool{New: func() any { return new([]wordAndGap) }}

// joinDividedWords joins words that are divided by spaces, signs or line breaks, such as "i g n o r e".
//
// The first result is the text in which these words are joined. This text begins with exactly one line break. The
// second result, unspacedWords, contains long words that may consist of several words without spaces between them. The
// list has at most maxUnspacedWords elements.
func joinDividedWords(lowerText string) (joined string, unspacedWords []string) {
	pooled, ok := wordsAndGapsPool.Get().(*[]wordAndGap)
	if !ok {
		pooled = new([]wordAndGap)
	}
	text := joinShortLines(lowerText)
	all := splitWordsAndGaps(text, (*pooled)[:0])
	var b []byte // The changed text before offset. It is nil as long as nothing was changed.
	offset := 0
	beginChange := func() {
		if b == nil {
			b = append(make([]byte, 0, len(text)+16), text[:offset]...)
		}
	}
	for i := 0; i < len(all); {
		next := i + countSingleLetters(all[i:])
		if next-i >= minJoinedSingleLetters {
			beginChange()
			var run string
			b, run = appendJoinedLetters(b, all[i:next])
			unspacedWords = append(unspacedWords, run)
		} else {
			next = i + 1 + countWordsJoinedBySign(all[i:])
			last := next - 1
			if last > i || hasEmphasisSigns(all[last].gapAfter) {
				beginChange()
			}
			for _, p := range all[i:last] {
				b = append(append(append(b, p.word...), strings.TrimSuffix(p.gapAfter, all[i].gapAfter)...), ' ')
				unspacedWords = appendUnspacedWord(unspacedWords, p.word)
			}
			if b != nil {
				b = appendWithoutEmphasis(append(b, all[last].word...), all[last].gapAfter)
			}
			unspacedWords = appendUnspacedWord(unspacedWords, all[last].word)
		}
		for ; i < next; i++ {
			offset += len(all[i].word) + len(all[i].gapAfter)
		}
	}
	if b != nil {
		text = string(b)
	}
	clear(all) // The slice is used again for another text. Clear it, so that it does not keep this text in memory.
	*pooled = all
	wordsAndGapsPool.Put(pooled)
	return withOneLeadingBreak(text), unspacedWords[:min(len(unspacedWords), maxUnspacedWords)]
}

// withOneLeadingBreak returns a text that begins with exactly one line break.
func withOneLeadingBreak(text string) string {
	rest := strings.TrimLeft(text, "\n")
	if len(rest)+1 == len(text) {
		return text
	}
	return "\n" + rest
}

func appendUnspacedWord(unspaced []string, word string) []string {
	if len(word) < minUnspacedLetters {
		return unspaced
	}
	return append(unspaced, word)
}

// mayContinueSentence reports whether the first line of a text may continue the sentence of the line before. It returns
// false for an empty line and for the start of a list item. The text must not be empty.
func mayContinueSentence(line string) bool {
	return isLetter(line[0]) || (line[0] != '\n' && !isListItem(line))
}

// emphasisSigns contains the signs for bold, italic, struck out and code.
const emphasisSigns = "*_~`"

// hasEmphasisSigns reports whether the characters between two words contain a space and one of the characters * _ ~
// and `, with which Markdown emphasizes words.
func hasEmphasisSigns(wordGap string) bool {
	return len(wordGap) > 1 && strings.IndexByte(wordGap, ' ') >= 0 && strings.ContainsAny(wordGap, emphasisSigns)
}

// appendWithoutEmphasis appends the string wordGap to b. wordGap contains the characters between two words. If it
// contains a space, appendWithoutEmphasis omits the characters *, _, ~ and `, with which Markdown emphasizes words.
func appendWithoutEmphasis(b []byte, wordGap string) []byte {
	if !hasEmphasisSigns(wordGap) {
		return append(b, wordGap...)
	}
	for i := range len(wordGap) {
		if c := wordGap[i]; strings.IndexByte(emphasisSigns, c) < 0 {
			b = append(b, c)
		}
	}
	return b
}

// countSingleLetters returns how many words at the start of a list are single letters that may belong to one divided
// word. The count ends at the first longer word, at an empty line, and at a gap of more than eight bytes.
func countSingleLetters(all []wordAndGap) int {
	const widest = 8 // maximum number of bytes between two letters of a word that is split into letters
	n := 0
	for n < len(all) && isSingleLetter(all[n].word) {
		n++
		if g := all[n-1].gapAfter; len(g) > widest || strings.Contains(g, "\n\n") {
			break
		}
	}
	return n
}

// isSingleLetter reports whether a word consists of a single character that is not a digit.
func isSingleLetter(word string) bool {
	if word == "" || len(word) > utf8.UTFMax {
		return false
	}
	_, size := utf8.DecodeRuneInString(word)
	return size == len(word) && (word < "0" || word > "9")
}

// appendJoinedLetters joins single letters to words, and appends the words to b. lettersAndGaps contains each letter
// with the gap after the letter, which is the text up to the next letter. The most frequent gap separates the letters
// of a word and is left out.
//
// For any other gap, the signs that remain without the most frequent gap are appended. A space is appended if no signs
// remain, or if the gap contains the most frequent gap twice in succession. The gap after the last letter is appended
// unchanged.
//
// The result joined is the extended slice b. The result allLetters contains all letters as a single word.
func appendJoinedLetters(b []byte, lettersAndGaps []wordAndGap) (joined []byte, allLetters string) {
	count := map[string]int{}
	commonGap := lettersAndGaps[0].gapAfter
	for _, p := range lettersAndGaps[:len(lettersAndGaps)-1] {
		count[p.gapAfter]++
		if count[p.gapAfter] > count[commonGap] {
			commonGap = p.gapAfter
		}
	}
	var all strings.Builder
	for i, p := range lettersAndGaps {
		b = append(b, p.word...)
		all.WriteString(p.word)
		switch {
		case i == len(lettersAndGaps)-1:
			b = append(b, p.gapAfter...)
		case p.gapAfter != commonGap:
			signs := strings.ReplaceAll(p.gapAfter, commonGap, "")
			b = append(b, signs...)
			if signs == "" || strings.Contains(p.gapAfter, commonGap+commonGap) {
				b = append(b, ' ')
			}
		}
	}
	return b, all.String()
}

// countWordsJoinedBySign returns how many words at the start of a list are joined to the next word by the same sign,
// such as "_" or "-". The sign is the gap after the first word. The gaps after the other words must end with the sign,
// and may have up to two bytes before it. If fewer than minWordsJoinedBySign words are joined, the result is 0.
func countWordsJoinedBySign(words []wordAndGap) int {
	sign := words[0].gapAfter
	if len(sign) != 1 || strings.IndexByte("_-.*~+/|,:;=\\", sign[0]) < 0 {
		return 0
	}
	n := 1
	for n < len(words)-1 && len(words[n].gapAfter) <= 3 && strings.HasSuffix(words[n].gapAfter, sign) {
		n++
	}
	if n < minWordsJoinedBySign || n == len(words) {
		return 0
	}
	return n
}

// joinShortLines joins consecutive lines of at most two words if there are at least minConsecutiveShortLines such
// lines. It ignores empty lines between the short lines.
func joinShortLines(lowerText string) string {
	// The text begins with a line break, so it has at most as many lines as line breaks.
	if strings.Count(lowerText, "\n") < minConsecutiveShortLines {
		return lowerText
	}
	if !hasShortLineRun(lowerText) {
		return lowerText
	}
	b := make([]byte, 0, len(lowerText)+1)
	var joined []byte // words of the consecutive short lines from runStart on, joined by spaces
	runStart := 0     // start of the short lines that are being read, in bytes
	lineCount := 0    // number of short lines from runStart on, without empty lines
	endRun := func(runEnd int) {
		if lineCount < minConsecutiveShortLines {
			b = append(b, lowerText[runStart:runEnd]...)
		} else {
			b = append(append(b, joined...), '\n')
		}
		lineCount = 0
		joined = joined[:0]
	}
	for lineStart := 0; lineStart < len(lowerText); {
		line := lowerText[lineStart:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		words, n := firstWords(line)
		lineEnd := lineStart + len(line)
		if n > maxShortLineWords {
			endRun(lineStart)
			b = append(b, line...)
			runStart = lineEnd
		} else {
			for _, w := range words[:n] {
				joined = append(append(joined, w...), ' ')
			}
			lineCount += min(n, 1)
		}
		lineStart = lineEnd
	}
	endRun(len(lowerText))
	return string(b)
}

// hasShortLineRun reports whether a text has minConsecutiveShortLines consecutive lines of at most two words. Empty
// lines between such lines are ignored.
func hasShortLineRun(lowerText string) bool {
	lineCount := 0
	for lowerText != "" {
		var line string
		line, lowerText, _ = strings.Cut(lowerText, "\n")
		_, n := firstWords(line)
		if n > maxShortLineWords {
			lineCount = 0
			continue
		}
		lineCount += min(n, 1)
		if lineCount >= minConsecutiveShortLines {
			return true
		}
	}
	return false
}

// lineStartSigns contains the characters that are ignored at the start of a line, before its first word: list marks,
// digits and spaces.
const lineStartSigns = " \t-*#>|+0123456789.)"

// isLineStartSign has the value true for each byte in lineStartSigns.
var isLineStartSign = func() (is [256]bool) {
	for _, c := range []byte(lineStartSigns) {
		is[c] = true
	}
	return is
}()

// firstWords returns the first words of a line, and their number n. The number is at most maxShortLineWords+1.
// firstWords ignores lineStartSigns at the start of the line.
func firstWords(line string) (words [maxShortLineWords + 1]string, n int) {
	for line != "" && isLineStartSign[line[0]] {
		line = line[1:]
	}
	from := 0
	for i := 0; i <= len(line) && n < len(words); i++ {
		switch {
		case i < len(line) && line[i] >= utf8.RuneSelf: // The line may contain other white space than ASCII.
			return firstFieldWords(line)
		case i < len(line) && !isSpace(line[i]):
			continue
		case from < i:
			words[n] = line[from:i]
			n++
		}
		from = i + 1
	}
	return words, n
}

// firstFieldWords returns the first words of a line, and their number n, which is at most maxShortLineWords+1. Unlike
// firstWords, it treats all Unicode white space as space between words.
func firstFieldWords(line string) (words [maxShortLineWords + 1]string, n int) {
	for w := range strings.FieldsSeq(line) {
		words[n] = w
		n++
		if n == len(words) {
			break
		}
	}
	return words, n
}
