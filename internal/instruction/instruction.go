// Rules: what makes a text look like instructions to an agent.

// Package instruction finds text that is shaped like instructions to an agent:
// orders that outlast a session, that set aside rules, that ask for secrecy, that
// send data away, and signs that only a model reads. Such text is no proof of an
// attack, and an attack may do without: what decides is where a text came from.
package instruction

import (
	"encoding/binary"
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
	low, ascii := lower(text)
	if !ascii && hidden(text) {
		found = append(found, "hidden")
	}
	t := rules()
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

// Shaped reports whether texts that a reader sees together, such as a name and what it
// names, are shaped like instructions to an agent. It is the one question to ask before
// any text is put before a model that did not ask for it. It does not know who wrote the
// texts: callers except what a person wrote or approved.
func Shaped(texts ...string) bool {
	return Find(strings.Join(texts, "\n")) != nil
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

// lower returns a text in lower case, with a line break before it, as [strings.ToLower]
// does, and whether all of it is ASCII.
func lower(text string) (low string, ascii bool) {
	const ones = 0x0101010101010101
	b := append(make([]byte, 0, 1+len(text)), '\n')
	for ascii = true; text != ""; {
		if len(text) >= 8 {
			if eight := uint64(headOf(text)) | uint64(headOf(text[4:]))<<32; eight&(0x80*ones) == 0 {
				upper := (eight + (0x80-'A')*ones) &^ (eight + (0x80-'Z'-1)*ones) & (0x80 * ones)
				b, text = le.AppendUint64(b, eight|upper>>2), text[8:]
				continue
			}
		}
		c, n := utf8.DecodeRuneInString(text)
		ascii = ascii && c < utf8.RuneSelf
		b, text = utf8.AppendRune(b, unicode.ToLower(c)), text[n:]
	}
	return string(b), ascii
}

var le = binary.LittleEndian

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
