// This file selects the part of a text that shows why a search has found the text.

package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// ellipsis replaces text that was cut off.
const ellipsis = "…"

// Snippet returns the part of content with about width characters that contains the most distinct terms. Of several
// such parts, it returns the first. Without terms, it returns the beginning. The terms must be terms of
// [CrabtalkTerms] or [OldCrabtalkTerms], in lower case.
//
// White space is reduced to single spaces, and invalid UTF-8 becomes U+FFFD. The part begins and ends between words.
// If a word is too long, or if spaces are missing, the part begins or ends between characters, but never before a
// combining mark. It has at most width characters, plus an ellipsis on each side on which text was cut off. If width
// is below 1, the result is empty. The running time is linear in the length of content.
func Snippet(content string, terms []string, width int) string {
	return cutExcerpt(normalizeSpace(content), terms, width)
}

// Excerpt is like Snippet, but keeps line breaks and indentation. It removes blank lines, and replaces a tab by two
// spaces. If possible, it begins at the start of a line. Outside of code fences, it joins a paragraph's wrapped lines.
func Excerpt(content string, terms []string, width int) string {
	var b strings.Builder
	// whether the current line may continue the paragraph of the previous line, which is long and is not in a code
	// fence
	mayWrap := false
	inFence := false
	for line := range strings.Lines(content) {
		words := strings.TrimLeft(line, " \t")
		indent := strings.ReplaceAll(line[:len(line)-len(words)], "\t", "  ")
		words = normalizeSpace(words)
		if words == "" {
			mayWrap = false
			continue
		}
		if mayWrap && mayContinueParagraph(indent, words) {
			indent = " "
		} else if b.Len() > 0 {
			indent = "\n" + indent
		}
		b.WriteString(indent + words)
		inFence = inFence != (strings.HasPrefix(words, "```") || strings.HasPrefix(words, "~~~"))
		mayWrap = !inFence && len(words) >= 50
	}
	return cutExcerpt(b.String(), terms, width)
}

// mayContinueParagraph reports whether a line may continue the paragraph of the line before. It returns false for an
// indented line, and for a line that begins a Markdown block, such as a heading or a list item.
func mayContinueParagraph(indent, words string) bool {
	return indent == "" && !strings.ContainsAny(words[:1], "#-*+>|`~0123456789")
}

// cutExcerpt returns a part of s with at most width characters that contains as many distinct terms as possible. If
// text was cut off on a side, it adds an ellipsis there. If s has at most width characters, the result is s. If width
// is below 1, the result is "".
func cutExcerpt(s string, terms []string, width int) string {
	if width < 1 {
		return ""
	}
	fits := len(s) <= width || (len(s) <= utf8.UTFMax*width && utf8.RuneCountInString(s) <= width)
	if fits {
		return s
	}
	start, stop, room := findBestPart(s, terms, width)
	// Show some text before the terms and more text after them. Near the end of the content, show more text before the
	// terms.
	from := nextCutPosition(
		s,
		min(byteOffsetBeforeRunes(s, start, room/3), byteOffsetBeforeRunes(s, len(s), width)),
		start,
	)
	to := lastCutPosition(s, from, byteOffsetAfterRunes(s, from, width), stop)
	out := strings.TrimSuffix(strings.TrimRight(s[from:to], " \n"), "\n-")
	if from > 0 {
		out = ellipsis + out
	}
	if to < len(s) {
		out += ellipsis
	}
	return out
}

// nextCutPosition returns the best offset between minOffset and maxOffset at which an excerpt from s can begin. This is
// the first offset at which a line begins, or else the first at which a word begins, or else the first at which a
// character begins.
func nextCutPosition(s string, minOffset, maxOffset int) int {
	if minOffset == 0 || s[minOffset-1] == '\n' {
		return minOffset
	}
	if i := strings.IndexByte(s[minOffset:maxOffset], '\n'); i >= 0 {
		return minOffset + i + 1
	}
	if s[minOffset-1] == ' ' {
		return minOffset
	}
	if i := strings.IndexByte(s[minOffset:maxOffset], ' '); i >= 0 {
		return minOffset + i + 1
	}
	for minOffset < maxOffset && !isCutPosition(s, minOffset) {
		minOffset++
	}
	return minOffset
}

// lastCutPosition returns the best offset at which an excerpt from s can end. The excerpt begins at the offset from,
// and must end at the offset to or before. The result is the first of these offsets that exists:
//   - to, if a word ends there
//   - the last end of a word before to, if it is after from and not before minWordEnd
//   - the last end of a character after from and not after to
//   - to
func lastCutPosition(s string, from, to, minWordEnd int) int {
	if to == len(s) || strings.IndexByte(" \n", s[to]) >= 0 {
		return to
	}
	if i := from + strings.LastIndexAny(s[from:to], " \n"); i > from && i >= minWordEnd {
		return i
	}
	for end := to; end > from; end-- {
		if isCutPosition(s, end) {
			return end
		}
	}
	return to
}

// normalizeSpace reduces each run of white space in s to a single space. It removes spaces at both ends, and replaces
// each run of invalid UTF-8 by U+FFFD.
func normalizeSpace(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	needsSpace := false // white space precedes the next character
	isInvalid := false  // the previous byte was not valid UTF-8
	for i := 0; i < len(s); {
		if n := countVisibleASCII(s[i:]); n > 0 {
			if needsSpace {
				b.WriteByte(' ')
			}
			needsSpace = false
			isInvalid = false
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		wasInvalid := isInvalid
		isInvalid = r == utf8.RuneError && size == 1
		switch {
		case unicode.IsSpace(r):
			needsSpace = b.Len() > 0
		case isInvalid && wasInvalid:
			// The replacement is already in b.
		default:
			if needsSpace {
				b.WriteByte(' ')
			}
			needsSpace = false
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// countVisibleASCII returns the number of bytes at the beginning of s that are ASCII and neither white space nor
// control characters.
func countVisibleASCII(s string) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// findBestPart finds the part of s that contains the most distinct terms. It considers only parts that begin and end
// with a term and have at most width characters. start and stop are the part's range in bytes. unusedWidth is width
// minus the part's length in characters. If s contains no term, the range is empty and unusedWidth is width.
func findBestPart(s string, terms []string, width int) (start, stop, unusedWidth int) {
	if len(terms) == 0 {
		return 0, 0, width
	}
	hits := findTermHits(s, terms)

	// count[t] is how often terms[t] occurs in the part of the text from hits[first] to hits[last]. This part has at
	// most width characters.
	count := make([]int, len(terms))
	distinct := 0
	maxDistinct := 0
	first := 0
	for last := range hits {
		h := &hits[last]
		count[h.term]++
		if count[h.term] == 1 {
			distinct++
		}
		for first < last && h.runeEnd-hits[first].runeStart > width {
			count[hits[first].term]--
			if count[hits[first].term] == 0 {
				distinct--
			}
			first++
		}
		// Remove the first hit from the part as long as the hit's term occurs again in the part.
		for first < last && count[hits[first].term] > 1 {
			count[hits[first].term]--
			first++
		}
		if distinct > maxDistinct {
			maxDistinct = distinct
			start, stop = hits[first].byteStart, h.byteEnd
			unusedWidth = max(0, width-(h.runeEnd-hits[first].runeStart))
		}
	}
	if maxDistinct == 0 {
		return 0, 0, width
	}
	return start, stop, unusedWidth
}

// termHit is an occurrence of a term in a text.
type termHit struct {
	term               int // index of the term in the list of terms
	byteStart, byteEnd int // position of the term's occurrence in bytes (byteEnd is excluded)
	runeStart, runeEnd int // position of the term's occurrence in characters (runeEnd is excluded)
}

// findTermHits returns the occurrences of the terms in s, in order.
func findTermHits(s string, terms []string) (hits []termHit) {
	termIndex := make(map[string]int, len(terms))
	var isFirstByte [256]bool // the bytes with which terms begin
	for i, t := range slices.Backward(terms) {
		termIndex[t] = i
		if t != "" {
			isFirstByte[t[0]] = true
		}
	}
	end, runes := 0, 0
	for p := range ucd.Words(s) {
		runes += utf8.RuneCountInString(s[end:p.Start])
		end = p.End
		word := s[p.Start:p.End]
		mayMatch := isFirstByte[word[0]] || word[0] >= utf8.RuneSelf
		if !p.IsLowerASCII && word[0] >= 'A' && word[0] <= 'Z' {
			mayMatch = isFirstByte[word[0]+'a'-'A']
		}
		if mayMatch {
			if !p.IsLowerASCII {
				word = ucd.LowerWord(word)
			}
			if n, ok := termIndex[word]; ok {
				if hits == nil {
					hits = make([]termHit, 0, 8)
				}
				hits = append(hits, termHit{n, p.Start, p.End, runes, runes + p.RuneCount})
			}
		}
		runes += p.RuneCount
	}
	return hits
}

// byteOffsetBeforeRunes returns the byte offset that is runeCount characters before the offset byteOffset. If there are
// fewer characters, it returns 0.
func byteOffsetBeforeRunes(s string, byteOffset, runeCount int) int {
	for ; runeCount > 0 && byteOffset > 0; runeCount-- {
		_, size := utf8.DecodeLastRuneInString(s[:byteOffset])
		byteOffset -= size
	}
	return byteOffset
}

// byteOffsetAfterRunes returns the byte offset that is runeCount characters after the offset byteOffset. If there are
// fewer characters, it returns len(s).
func byteOffsetAfterRunes(s string, byteOffset, runeCount int) int {
	for ; runeCount > 0 && byteOffset < len(s); runeCount-- {
		_, size := utf8.DecodeRuneInString(s[byteOffset:])
		byteOffset += size
	}
	return byteOffset
}

// joinerRunes contains characters that join the characters around them, as in the emoji of a family.
var joinerRunes = []rune{'\u200d', '\ufe0f'}

// isCutPosition reports whether s may be cut before byte i. A character must begin there that is not joined to the
// character before it.
func isCutPosition(s string, i int) bool {
	if i == 0 || i == len(s) {
		return true
	}
	if !utf8.RuneStart(s[i]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	return !unicode.IsMark(r) && !slices.Contains(joinerRunes, r) && last != '\u200d'
}
