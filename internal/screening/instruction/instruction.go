// This file applies the rules to a text.

// Package instruction finds texts that look like instructions to an agent: orders that apply beyond
// the session, that override rules, that demand secrecy or that send data away, and characters that
// only a model sees. A match does not prove an attack, and an attack may not match. The origin of a
// text is more important.
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

// Find returns the sorted names of the rules that a text matches. It returns nil if the text does
// not look like instructions. A single weak rule is not enough. Find reads the text as a model
// does, so that look-alike letters, invisible characters or split words do not prevent a match.
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
		if s := Skeleton(low); s != low {
			f.read(s)
		}
	}
	if !f.isStrong && len(f.names) < leastWeak {
		return nil
	}
	slices.Sort(f.names)
	return f.names
}

// Hidden is the name of the rule for characters that a person cannot see.
const Hidden = "hidden"

// leastWeak is the number of weak rules that a text must match to look like instructions.
const leastWeak = 2

// leastBold is the minimum number of bold marks in a text that may have single bold words one after
// another.
const leastBold = 6

// isBold reports whether a text may have single bold words one after another.
func isBold(low string) bool {
	return (strings.IndexByte(low, '*') >= 0 && strings.Count(low, "**") >= leastBold) ||
		(strings.IndexByte(low, '_') >= 0 && strings.Count(low, "__") >= leastBold)
}

// finder collects the rules that the readings of a text match. A reading is a normalized form of
// the text.
type finder struct {
	names    []string
	isStrong bool // one of the rules is not weak
	hasLines bool // the text may have line breaks or tabs
}

// add adds a rule that is not weak.
func (f *finder) add(name string) {
	f.isStrong = true
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
}

// read applies the rules to a reading. If its words may be split, it also applies them to the
// reading with joined words.
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

// match adds the rules that a reading matches. lines has the original line breaks and is used for
// rules about the start of a line. flowing is used for all other rules. match reports whether words
// of the text may be split.
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

// matchSquashed adds the rules, except weak rules, that match a word without spaces. Such a word
// may consist of several words.
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

// Shaped reports whether texts that are read together, such as an entry's name and content, look
// like instructions to an agent. It must be called before a text is shown to a model that did not
// ask for it. It does not know the author. The caller must except texts that a person wrote or
// approved.
func Shaped(texts ...string) bool {
	return Find(strings.Join(texts, "\n")) != nil
}

// rule is a line of rules.txt.
type rule struct {
	name   string
	weak   bool
	groups uint8 // one bit for each group of words
	expr   string
	once   sync.Once
	*pattern
	onceSquashed sync.Once
	squashed     *regexp.Regexp
}

// part replaces the sign … in an expression. It matches a part of a sentence.
const part = `[^.!?\n]{0,60}`

// isOfLine reports whether a match must be at the start of a line, apart from signs.
func (r *rule) isOfLine() bool { return r.expr[0] == '^' }

// matches reports whether a text matches the expression. The text must be in lower case and begin
// with a line break. The expression is compiled when it is first used.
func (r *rule) matches(low string) bool {
	r.once.Do(func() { r.pattern = newPattern(strings.ReplaceAll(r.expr, "…", part)) })
	return r.in(low)
}

// squashedExpr returns the expression for text without spaces between its words.
func (r *rule) squashedExpr() *regexp.Regexp {
	r.onceSquashed.Do(func() {
		expr := strings.NewReplacer(
			" {",
			"{",
			`\b`,
			"",
			`\s`,
			"",
			" ",
			"",
			"…",
			part,
		).Replace(strings.TrimPrefix(r.expr, "^"))
		if re, err := regexp.Compile(expr); err == nil {
			r.squashed = re
		} else {
			r.squashed = regexp.MustCompile(`[^\s\S]`) // matches nothing: the expression requires a space
		}
	})
	return r.squashed
}

// contents specifies which kinds of characters a text contains.
type contents struct {
	isASCII     bool
	hasControls bool // control characters: line breaks, tabs, escapes
}

// lower returns the text in lower case, like [strings.ToLower], after a line break. It also returns
// which kinds of characters the text contains.
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

// mostJoiners is the maximum number of consecutive zero-width characters in a harmless text. Some
// emoji contain a single joiner.
const mostJoiners = 1

// unseen contains invisible characters that can hide text anywhere: tags and direction controls.
var unseen = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202D, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xE0020, Hi: 0xE007F, Stride: 1}},
}

// joiners contains zero-width characters that a text may need between two emoji or between letters
// of some scripts.
const joiners = "\u200B\u200C\u200D\u2060\u2061\u2062\u2063\u2064\u180E\u034F\uFEFF"

const softHyphen = 0xAD

// hidden reports whether a text has invisible characters that no script needs: tags,
// direction controls, several zero-width characters in a row, or zero-width characters
// between two ASCII letters.
func hidden(text string) bool {
	row, selectors := 0, 0
	before, between := false, false // before: the previous character is an ASCII letter; between: invisible characters follow an ASCII letter
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

// blackFlag is the first character of regional flags. The name of the region follows as tags.
const blackFlag = 0x1F3F4

// endsInFlag reports whether a text ends inside the emoji of a region's flag.
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
