// This file decides which rules a text meets.

// Package instruction finds text that is shaped like instructions to an agent:
// orders that outlast a session, that set aside rules, that ask for secrecy, that
// send data away, and signs that only a model reads. Such text is no proof of an
// attack, and an attack may do without: what decides is where a text came from.
package instruction

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Find returns the names of the rules that a text meets, sorted, or nil for a text that is
// not shaped like instructions. A text that meets only one weak rule is not. The text is
// read as a model reads it: in other letters, with invisible characters, or with its words
// taken apart, it meets the same rules.
func Find(text string) []string {
	low, has := lower(text)
	var f finder
	if !has.isASCII && hidden(text) {
		f.add(Hidden)
	}
	if !has.isASCII || (has.hasControls && hidesLetters(low)) {
		low = visible(low)
	}
	f.hasLines = has.hasControls
	f.read(low)
	if !has.isASCII {
		if s := skeleton(low); s != low {
			f.read(s)
		}
	}
	if !f.isStrong && len(f.names) < leastWeak {
		return nil
	}
	slices.Sort(f.names)
	return f.names
}

// Hidden is the name of the rule for characters that a person does not see.
const Hidden = "hidden"

// leastWeak is the number of different weak rules that make a text shaped like
// instructions.
const leastWeak = 2

// leastBold is the least marks of bold words in a text of which several words in a row may
// be bold one by one.
const leastBold = 6

// isBold reports whether words of a text may be bold one by one.
func isBold(low string) bool {
	return (strings.IndexByte(low, '*') >= 0 && strings.Count(low, "**") >= leastBold) || (strings.IndexByte(low, '_') >= 0 && strings.Count(low, "__") >= leastBold)
}

// finder collects the rules that the readings of a text meet.
type finder struct {
	names    []string
	isStrong bool // one of them is not weak
	hasLines bool // the text may have more than one line, or tabs
}

// add adds a rule that is not weak.
func (f *finder) add(name string) {
	f.isStrong = true
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
}

// read examines a reading of a text, and another one if its words may have been taken
// apart.
func (f *finder) read(low string) {
	flowing, hasShortLines := low, false
	if f.hasLines || strings.Contains(low, "  ") {
		flowing, hasShortLines = flow(low)
	}
	if !f.match(low, flowing) && !hasShortLines && !isBold(low) {
		return
	}
	words, squashed := respell(low)
	if words != flowing {
		f.match(words, words)
	}
	for _, s := range squashed {
		f.matchSquashed(s)
	}
}

// match adds the rules that a text meets. Rules that need the beginning of a line are
// matched against its lines, the others against its flowing text. It reports whether words
// of the text may have been taken apart.
func (f *finder) match(lines, flowing string) (mayBeApart bool) {
	t := rules()
	has, mayBeApart := t.groupsIn(flowing)
	for i, groups := range has {
		r := &t.rules[i]
		if groups != r.groups {
			continue
		}
		text := flowing
		if r.isOfLine() {
			text = lines
		}
		switch {
		case !r.matches(text):
		case !r.weak:
			f.add(r.name)
		case !slices.Contains(f.names, r.name):
			f.names = append(f.names, r.name)
		}
	}
	return mayBeApart
}

// matchSquashed adds the rules that are not weak and that words without anything between
// them meet.
func (f *finder) matchSquashed(word string) {
	t := rules()
	has := make([]uint8, len(t.rules))
	for _, w := range t.squashed {
		if has[w.rule]&w.group == 0 && strings.Contains(word, w.text) {
			has[w.rule] |= w.group
		}
	}
	for i, groups := range has {
		if r := &t.rules[i]; !r.weak && groups == r.groups && r.squashedExpr().MatchString(word) {
			f.add(r.name)
		}
	}
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
	onceSquashed sync.Once
	squashed     *regexp.Regexp
}

// part is what the sign … of an expression stands for: a part of a sentence.
const part = `[^.!?\n]{0,60}`

// isOfLine reports whether only signs may be before a match in its line.
func (r *rule) isOfLine() bool { return r.expr[0] == '^' }

// matches reports whether a text in lower case, with a line break before it, matches the
// expression, which is compiled when the first text has its words.
func (r *rule) matches(low string) bool {
	r.once.Do(func() { r.pattern = newPattern(strings.ReplaceAll(r.expr, "…", part)) })
	return r.in(low)
}

// squashedExpr returns the expression for words without anything between them.
func (r *rule) squashedExpr() *regexp.Regexp {
	r.onceSquashed.Do(func() {
		expr := strings.NewReplacer(" {", "{", `\b`, "", `\s`, "", " ", "", "…", part).Replace(strings.TrimPrefix(r.expr, "^"))
		if re, err := regexp.Compile(expr); err == nil {
			r.squashed = re
		} else {
			r.squashed = regexp.MustCompile(`[^\s\S]`) // it needs a space
		}
	})
	return r.squashed
}

// contents says which kinds of characters a text has that need more work.
type contents struct {
	isASCII     bool
	hasControls bool // characters below the space: line breaks, tabs, escapes
}

// lower returns a text in lower case, with a line break before it, as [strings.ToLower]
// does, and what the text has.
func lower(text string) (low string, has contents) {
	const ones = 0x0101010101010101
	b := append(make([]byte, 0, 1+len(text)), '\n')
	has.isASCII = true
	for below := uint64(0); text != "" || below != 0; {
		if len(text) >= 8 {
			if eight := uint64(headOf(text)) | uint64(headOf(text[4:]))<<32; eight&(0x80*ones) == 0 {
				upper := (eight + (0x80-'A')*ones) &^ (eight + (0x80-'Z'-1)*ones) & (0x80 * ones)
				below |= ^(eight + (0x80-' ')*ones) & (0x80 * ones)
				b, text = le.AppendUint64(b, eight|upper>>2), text[8:]
				continue
			}
		}
		if below != 0 {
			has.hasControls, below = true, 0
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		has.isASCII = has.isASCII && c < utf8.RuneSelf
		has.hasControls = has.hasControls || c < ' '
		b, text = utf8.AppendRune(b, unicode.ToLower(c)), text[n:]
	}
	return string(b), has
}

var le = binary.LittleEndian

// mostJoiners is how many characters without width are in a row in a text that hides
// nothing: an emoji is joined by one.
const mostJoiners = 1

// unseen are characters that a person does not see and that hide a text wherever they
// are: tags and controls of direction.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202D, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xE0020, Hi: 0xE007F, Stride: 1}},
}

// joiners are characters without width that a text may need between two emoji or letters
// of some scripts.
const joiners = "\u200B\u200C\u200D\u2060\u2061\u2062\u2063\u2064\u180E\u034F\uFEFF"

const softHyphen = 0xAD

// hidden reports whether a text has characters that a person does not see and that no
// script needs: tags, controls of direction, rows of characters without width, and such
// characters between two letters of ASCII.
func hidden(text string) bool {
	row, selectors := 0, 0
	before, between := false, false // a letter of ASCII is before, an invisible character after it
	for i, c := range text {
		if c < utf8.RuneSelf {
			isLetter := isWord(byte(c))
			if between && isLetter {
				return true
			}
			row = 0
			selectors = 0
			before = isLetter
			between = false
			continue
		}
		if unicode.Is(unseen, c) && !endsInFlag(text[:i]) {
			return true
		}
		switch {
		case strings.ContainsRune(joiners, c):
			row++
			between = before || between
		case unicode.Is(unicode.Variation_Selector, c):
			selectors++
			between = before || between
		case !isInvisible(c):
			row = 0
			selectors = 0
			between = false
		case c != softHyphen:
			between = before || between
		}
		before = false
		if row > mostJoiners || selectors > mostJoiners {
			return true
		}
	}
	return false
}

// blackFlag begins the emoji of regions, whose names are spelt in tags.
const blackFlag = 0x1F3F4

// endsInFlag reports whether a text ends within the emoji of a region.
func endsInFlag(before string) bool {
	for before != "" {
		c, n := utf8.DecodeLastRuneInString(before)
		if c < 0xE0020 || c > 0xE007F {
			return c == blackFlag
		}
		before = before[:len(before)-n]
	}
	return false
}
