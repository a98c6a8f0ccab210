// Rules: what makes a text look like instructions to an agent.

// Package instruction finds text that is shaped like instructions to an agent:
// orders that outlast a session, that set aside rules, that ask for secrecy, that
// send data away, and signs that only a model reads. Such text is no proof of an
// attack, and an attack may do without: what decides is where a text came from.
package instruction

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Find returns the names of the rules that a text meets, sorted; none for a text
// that is not shaped like instructions. A text that meets only one weak rule is not.
func Find(text string) []string {
	var found []string
	if hidden(text) {
		found = append(found, "hidden")
	}
	t := rules()
	low := "\n" + strings.ToLower(text)
	weak := 0
	for i, groups := range t.groupsIn(low) {
		r := &t.rules[i]
		if groups != r.groups || !r.matches(low) {
			continue
		}
		if r.weak {
			weak++
		}
		if !slices.Contains(found, r.name) {
			found = append(found, r.name)
		}
	}
	if weak == len(found) && weak < 2 {
		return nil
	}
	slices.Sort(found)
	return found
}

// rule is a line of rules.txt.
type rule struct {
	name   string
	weak   bool
	groups uint8 // a bit for each group of words
	expr   string
	once   sync.Once
	*pattern
}

// matches reports whether a text in lower case, with a line break before it, matches the
// expression, which is compiled when the first text has its words.
func (r *rule) matches(low string) bool {
	r.once.Do(func() { r.pattern = newPattern(strings.ReplaceAll(r.expr, "…", `[^.!?\n]{0,60}`)) })
	return r.in(low)
}

// table is all rules, and where their words are looked up.
type table struct {
	rules []rule
	first [256]bool       // a word begins with that byte
	short [256][]word     // of one byte, by that
	words [1 << 10][]word // of more, by the first two
}

// pairOf returns a place in words for two bytes.
func pairOf(a, b byte) int { return (int(a)*37 + int(b)) & (1<<10 - 1) }

// word is a text that a rule's expression needs, where a word or a sign begins.
type word struct {
	text       string
	head, mask uint32 // of its first four bytes
	rule       int
	group      uint8
}

// headOf returns the first four bytes of a text, those that it lacks being 0.
func headOf(s string) uint32 {
	if len(s) < 4 {
		s += "\x00\x00\x00"
	}
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// groupsIn returns, for each rule, of which of its groups the text has a word.
func (t *table) groupsIn(low string) []uint8 {
	has := make([]uint8, len(t.rules))
	inWord := false
	for i := range len(low) {
		c := low[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if t.first[c] && !(letter && inWord) {
			t.wordsAt(low[i:], has)
		}
		inWord = letter
	}
	return has
}

// wordsAt adds the groups of the words that a text begins with.
func (t *table) wordsAt(low string, has []uint8) {
	for _, w := range t.short[low[0]] {
		has[w.rule] |= w.group
	}
	if len(low) < 2 {
		return
	}
	head := headOf(low)
	for _, w := range t.words[pairOf(low[0], low[1])] {
		if head&w.mask == w.head && strings.HasPrefix(low, w.text) {
			has[w.rule] |= w.group
		}
	}
}

//go:embed rules.txt
var source string

// rules are those of rules.txt.
var rules = sync.OnceValue(func() *table {
	t := new(table)
	for line := range strings.Lines(source) {
		if line = strings.TrimRight(line, "\r\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, "\t")
		words, expr, _ := strings.Cut(rest, "\t")
		name, weak := strings.CutSuffix(name, "?")
		groups := uint8(0)
		for group := range strings.SplitSeq(words, " & ") {
			bit := groups + 1
			groups |= bit
			for w := range strings.SplitSeq(group, "|") {
				at := &t.short[w[0]]
				if len(w) > 1 {
					at = &t.words[pairOf(w[0], w[1])]
				}
				t.first[w[0]] = true
				mask := uint32(1<<(8*min(len(w), 4)) - 1)
				*at = append(*at, word{w, headOf(w), mask, len(t.rules), bit})
			}
		}
		t.rules = append(t.rules, rule{name: name, weak: weak, groups: groups, expr: expr})
	}
	return t
})

// mostJoiners is how many characters without width stand in a row in a text that
// hides nothing: an emoji is joined by one.
const mostJoiners = 1

// invisible are characters that a person does not see, but for rows: tags and controls of
// direction.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202D, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xE0020, Hi: 0xE007F, Stride: 1}},
}

// joiners are the characters without width.
const joiners = "\u200B\u200C\u200D\u2060\uFEFF"

// hidden reports whether a text has characters that a person does not see.
func hidden(text string) bool {
	row := 0
	for i, c := range text {
		if c < utf8.RuneSelf {
			row = 0
			continue
		}
		if unicode.Is(invisible, c) && !flag(text[:i]) {
			return true
		}
		if !strings.ContainsRune(joiners, c) {
			row = 0
		} else if row++; row > mostJoiners {
			return true
		}
	}
	return false
}

// blackFlag begins the emoji of regions, whose names are spelt in tags.
const blackFlag = 0x1F3F4

// flag reports whether a text ends within the emoji of a region.
func flag(before string) bool {
	for before != "" {
		c, n := utf8.DecodeLastRuneInString(before)
		if c < 0xE0020 || c > 0xE007F {
			return c == blackFlag
		}
		before = before[:len(before)-n]
	}
	return false
}
