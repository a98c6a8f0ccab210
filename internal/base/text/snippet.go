// Snippets: the stretch of a text that shows why it was found.

package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/ucd"
)

// ellipsis stands where a snippet was cut.
const ellipsis = "…"

// Snippet returns the stretch of content, about width code points long, that
// holds the most of the given terms, each counted once; of several the first,
// and the beginning when it holds none. The terms are those of [Crabtalk] or
// [CrabtalkBytes], in lower case.
//
// White space is folded to single spaces, and what is not UTF-8 becomes
// U+FFFD. The stretch begins and ends between words, or, where a word is
// longer than the room or there are no spaces, between characters: never
// within a code point nor before a combining mark. It has at most width code
// points, and an ellipsis next to them on each side that was cut off. A width
// below 1 gives the empty string. The time is linear in content.
func Snippet(content string, terms []string, width int) string {
	return excerpt(fold(content), terms, width)
}

// Excerpt is Snippet that keeps lines: those that are not blank, with their
// indentation, tabs in it as two spaces. It prefers to begin with a line. Outside
// of code fences, lines of prose that were wrapped are joined.
func Excerpt(content string, terms []string, width int) string {
	var b strings.Builder
	long, fenced := false, false // the line before
	for line := range strings.Lines(content) {
		words := strings.TrimLeft(line, " \t")
		indent := strings.ReplaceAll(line[:len(line)-len(words)], "\t", "  ")
		words = fold(words)
		if words == "" {
			long = false
			continue
		}
		if long && !fenced && indent == "" && !strings.ContainsAny(words[:1], "#-*+>|`~0123456789") {
			indent = " "
		} else if b.Len() > 0 {
			indent = "\n" + indent
		}
		b.WriteString(indent + words)
		long, fenced = len(words) >= 50, fenced != (strings.HasPrefix(words, "```") || strings.HasPrefix(words, "~~~"))
	}
	return excerpt(b.String(), terms, width)
}

func excerpt(s string, terms []string, width int) string {
	if width < 1 {
		return ""
	}
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	start, stop, room := bestStretch(s, terms, width)
	// Show a little of what comes before the words, and more of what follows;
	// near the end of the text, more of what comes before.
	from := nextCut(s, min(back(s, start, room/3), back(s, len(s), width)), start)
	to := lastCut(s, from, forth(s, from, width), stop)
	out := strings.TrimSuffix(strings.TrimRight(s[from:to], " \n"), "\n-")
	if from > 0 {
		out = ellipsis + out
	}
	if to < len(s) {
		out += ellipsis
	}
	return out
}

// nextCut returns the beginning of the next line, from a byte on and before
// start, or else of the next word, or else of the next whole character.
func nextCut(s string, from, start int) int {
	if from == 0 || s[from-1] == '\n' {
		return from
	}
	if i := strings.IndexByte(s[from:start], '\n'); i >= 0 {
		return from + i + 1
	}
	if s[from-1] == ' ' {
		return from
	}
	if i := strings.IndexByte(s[from:start], ' '); i >= 0 {
		return from + i + 1
	}
	for from < start && !canCut(s, from) {
		from++
	}
	return from
}

// lastCut returns the end of the last word between two bytes, if it is not
// before stop, or else of the last whole character.
func lastCut(s string, from, to, stop int) int {
	if to == len(s) || s[to] == ' ' || s[to] == '\n' {
		return to
	}
	if i := from + strings.LastIndexAny(s[from:to], " \n"); i > from && i >= stop {
		return i
	}
	for end := to; end > from; end-- {
		if canCut(s, end) {
			return end
		}
	}
	return to
}

// fold returns s with each run of white space as one space, none at the ends,
// and U+FFFD for bytes that are not UTF-8.
func fold(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, string(utf8.RuneError))), " ")
}

// bestStretch finds the stretch of at most width code points with the most
// distinct terms. It returns the bytes where its first term begins and its last
// one ends, both 0 when there is none, and how many code points of width it
// leaves free.
func bestStretch(s string, terms []string, width int) (start, stop, room int) {
	type hit struct {
		term       int // in terms
		at, end    int // in bytes, half-open
		rune, past int // in code points, half-open
	}
	number := make(map[string]int, len(terms))
	for i, t := range terms {
		if _, ok := number[t]; !ok {
			number[t] = i
		}
	}
	var hits []hit
	end, runes := 0, 0
	for p := range ucd.Words(s) {
		runes += utf8.RuneCountInString(s[end:p.Start])
		end = p.End
		if n, ok := number[ucd.Lower(s[p.Start:p.End])]; ok {
			hits = append(hits, hit{n, p.Start, p.End, runes, runes + p.Runes})
		}
		runes += p.Runes
	}

	// Two fingers go through the hits; between them lies a stretch that fits.
	count := make([]int, len(terms))
	distinct := 0
	most := 0
	first := 0
	for last := range hits {
		h := &hits[last]
		count[h.term]++
		if count[h.term] == 1 {
			distinct++
		}
		for first < last && h.past-hits[first].rune > width {
			count[hits[first].term]--
			if count[hits[first].term] == 0 {
				distinct--
			}
			first++
		}
		// The same term again at the front widens the stretch for nothing.
		for first < last && count[hits[first].term] > 1 {
			count[hits[first].term]--
			first++
		}
		if distinct > most {
			most = distinct
			start, stop = hits[first].at, h.end
			room = max(0, width-(h.past-hits[first].rune))
		}
	}
	if most == 0 {
		return 0, 0, width
	}
	return start, stop, room
}

// back returns the byte n code points before byte i, or 0.
func back(s string, i, n int) int {
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return i
}

// forth returns the byte n code points after byte i, or the end.
func forth(s string, i, n int) int {
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}

// joiners keep the characters around them together, as in a family of emoji.
var joiners = []rune{'\u200d', '\ufe0f'}

// canCut reports whether s may be cut before byte i: it begins a code point
// that does not belong to the one before it.
func canCut(s string, i int) bool {
	if i == 0 || i == len(s) {
		return true
	}
	if !utf8.RuneStart(s[i]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	last, _ := utf8.DecodeLastRuneInString(s[:i])
	return !unicode.IsMark(r) && !slices.Contains(joiners, r) && last != '\u200d'
}
