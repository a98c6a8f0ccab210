// This file finds the rules in rules.txt that a text matches.

// Package instruction finds texts that look like instructions to an agent. Such a text gives orders beyond the session,
// overrides rules, demands secrecy, sends data away, or hides characters that only a model sees. A match does not prove
// an attack. Also, some attacks do not match. The origin of a text is therefore more important than a match.
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

// FindMatchingRules returns the sorted names of the rules that recognize instructions in a text. It returns nil if the
// text does not look like instructions. Weak rules also match harmless texts, so a single weak rule is not enough.
// FindMatchingRules reads the text like a model, so that look-alike letters, invisible characters or split words do not
// prevent a match.
func FindMatchingRules(text string) []string {
	low, has := lowerWithCharacterKinds(text)
	var f ruleFinder
	if !has.isASCII && hasHiddenChars(text) {
		f.addStrongMatch(RuleHiddenChars)
	}
	switch {
	case !has.isASCII, has.hasControlChars && hasLetterHidingChars(low):
		low = removeInvisibleChars(low)
	}
	f.hasLineBreaks = has.hasControlChars
	f.applyMatchingRules(low)
	if !has.isASCII {
		if s := ReplaceLookalikes(low); s != low {
			f.applyMatchingRules(s)
		}
	}
	if !f.hasStrongMatch && len(f.foundNames) < minWeakRuleMatches {
		return nil
	}
	slices.Sort(f.foundNames)
	return f.foundNames
}

// RuleHiddenChars is the name of the rule for characters that a person cannot see.
const RuleHiddenChars = "hidden"

// minWeakRuleMatches is the number of weak rules that must match before a text looks like instructions to a model. A
// weak rule also matches harmless texts. Any other rule is enough without a second rule.
const minWeakRuleMatches = 2

// Some texts mark each word of a phrase as bold, as in **ignore** **all** **rules**. A text is checked for such phrases
// only if it contains at least minBoldMarks times ** or __.
const minBoldMarks = 6

// mayHaveBoldMarkdown reports whether a text may have several consecutive words, each of which is bold by itself.
func mayHaveBoldMarkdown(lowerText string) bool {
	return (strings.IndexByte(lowerText, '*') >= 0 && strings.Count(lowerText, "**") >= minBoldMarks) ||
		(strings.IndexByte(lowerText, '_') >= 0 && strings.Count(lowerText, "__") >= minBoldMarks)
}

// ruleFinder collects the rules that a text matches. The rules are applied to several normalized forms of the text.
type ruleFinder struct {
	foundNames     []string
	hasStrongMatch bool // a matched rule is enough to make the text look like instructions
	hasLineBreaks  bool // the text may contain line breaks or tabs
}

// addStrongMatch adds the name of a matched rule that is enough to make the text look like instructions.
func (f *ruleFinder) addStrongMatch(name string) {
	f.hasStrongMatch = true
	if !slices.Contains(f.foundNames, name) {
		f.foundNames = append(f.foundNames, name)
	}
}

// applyMatchingRules adds to f the names of the rules that a text matches. The text must be in lower case and begin
// with a line break. In some texts, the words are divided, as in "i g n o r e", or each word is in a line of its own or
// bold. If the text may contain such words, applyMatchingRules also applies the rules to a form of the text in which
// the parts of words are joined.
func (f *ruleFinder) applyMatchingRules(lowerText string) {
	flowingText, hasShortLines := lowerText, false
	isJoined := f.hasLineBreaks || strings.Contains(lowerText, "  ")
	if isJoined {
		flowingText, hasShortLines = joinLines(lowerText)
	}
	hasMatch := f.addMatchingRules(lowerText, flowingText)
	if !hasMatch && !hasShortLines {
		if !mayHaveBoldMarkdown(lowerText) {
			return
		}
	}
	joined, squashed := joinDividedWords(lowerText)
	words := flowingText
	if joined != lowerText || !isJoined {
		words, _ = joinLines(joined)
	}
	if strings.TrimRight(words, "\n") != strings.TrimRight(flowingText, "\n") {
		f.addMatchingRules(words, words)
	}
	for _, s := range squashed {
		f.addUnspacedWordMatches(s)
	}
}

// addMatchingRules adds the names of the rules that a normalized text matches. The parameter lines is this text with
// its line breaks, and is used for rules about the start of a line. The parameter joinedLines is the text without the
// line breaks, and is used for all other rules. The result mayHaveSplitWords is true if the text may contain words with
// spaces or signs between their letters.
func (f *ruleFinder) addMatchingRules(lines, joinedLines string) (mayHaveSplitWords bool) {
	t := loadedRules()
	found, mayHaveSplitWords := t.findWordGroups(joinedLines)
	for i := range t.rules {
		r := &t.rules[i]
		if found&r.requiredGroups != r.requiredGroups {
			continue
		}
		text := joinedLines
		if r.needsLineStart() {
			text = lines
		}
		switch {
		case !r.matches(text):
		case !r.isWeak:
			f.addStrongMatch(r.name)
		case !slices.Contains(f.foundNames, r.name):
			f.foundNames = append(f.foundNames, r.name)
		}
	}
	return mayHaveSplitWords
}

// addUnspacedWordMatches adds the names of the rules that match a long word, such as "ignoreallrules", which may be
// several words without the spaces between them. Weak rules are not added.
func (f *ruleFinder) addUnspacedWordMatches(word string) {
	t := loadedRules()
	found := t.findUnspacedGroups(word)
	for i := range t.rules {
		r := &t.rules[i]
		if r.isWeak || found&r.requiredGroups != r.requiredGroups {
			continue
		}
		if r.unspacedExpr().MatchString(word) {
			f.addStrongMatch(r.name)
		}
	}
}

// instructionRule is a line of rules.txt, which describes a phrase that occurs in instructions to a model.
type instructionRule struct {
	name           string
	isWeak         bool
	requiredGroups wordGroupSet // Groups of words. A text can match only if it contains a word of each group.
	expression     string
	patternOnce    sync.Once
	*pattern
	unspacedOnce   sync.Once
	unspacedRegexp *regexp.Regexp
}

// sentencePartPattern is the regular expression for the sign "…" in a rule. It matches up to 60 characters of a
// sentence.
const sentencePartPattern = `[^.!?\n]{0,60}`

// needsLineStart reports whether a match must be at the start of a line. Characters that are not part of a word, such
// as "- ", may precede the match in the line.
func (r *instructionRule) needsLineStart() bool { return r.expression[0] == '^' }

// matches reports whether a text matches the rule's expression. The text must be in lower case and begin with a line
// break. The expression is compiled when it is first used.
func (r *instructionRule) matches(lowerText string) bool {
	r.patternOnce.Do(func() { r.pattern = newPattern(strings.ReplaceAll(r.expression, "…", sentencePartPattern)) })
	return r.matchesText(lowerText)
}

// unspacedExpr returns the rule's regular expression without the spaces and word boundaries in it. It matches text in
// which the spaces between the words were left out.
func (r *instructionRule) unspacedExpr() *regexp.Regexp {
	r.unspacedOnce.Do(func() {
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
			sentencePartPattern,
		).Replace(strings.TrimPrefix(r.expression, "^"))
		if re, err := regexp.Compile(expr); err == nil {
			r.unspacedRegexp = re
		} else {
			// The rule's expression is invalid without its spaces. Use an expression that matches no text.
			r.unspacedRegexp = regexp.MustCompile(`[^\s\S]`)
		}
	})
	return r.unspacedRegexp
}

// characterKinds specifies which kinds of characters a text contains.
type characterKinds struct {
	isASCII         bool
	hasControlChars bool // control characters: line breaks, tabs and escapes
}

// lowerWithCharacterKinds returns the text in lower case, like [strings.ToLower], and describes the characters in the
// text. The result lowerText begins with a newline, so that a search for a line start also finds the text's first line.
// The result kinds tells whether all characters are ASCII, and whether the text contains control characters.
func lowerWithCharacterKinds(text string) (lowerText string, kinds characterKinds) {
	const ones = 0x0101010101010101
	b := append(make([]byte, 0, 1+len(text)), '\n')
	kinds.isASCII = true
	for controls := uint64(0); text != "" || controls != 0; {
		if len(text) >= 8 {
			if eight := uint64(firstFourBytes(text)) | uint64(firstFourBytes(text[4:]))<<32; eight&(0x80*ones) == 0 {
				upperCase := (eight + (0x80-'A')*ones) &^ (eight + (0x80-'Z'-1)*ones) & (0x80 * ones)
				controls |= ^(eight + (0x80-' ')*ones) & (0x80 * ones)
				b, text = littleEndian.AppendUint64(b, eight|upperCase>>2), text[8:]
				continue
			}
		}
		if controls != 0 {
			kinds.hasControlChars, controls = true, 0
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		kinds.isASCII = kinds.isASCII && c < utf8.RuneSelf
		kinds.hasControlChars = kinds.hasControlChars || c < ' '
		b, text = utf8.AppendRune(b, unicode.ToLower(c)), text[n:]
	}
	return string(b), kinds
}

var littleEndian = binary.LittleEndian

// maxZeroWidthChars is the maximum number of consecutive zero-width characters in a harmless text. Some
// emoji contain a single joiner.
const maxZeroWidthChars = 1

// hiddenCharRanges contains the invisible characters that can hide text anywhere: tags and direction controls.
var hiddenCharRanges = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x202D, Hi: 0x202E, Stride: 1}, {Lo: 0x2066, Hi: 0x2069, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xE0020, Hi: 0xE007F, Stride: 1}},
}

// zeroWidthChars contains the zero-width characters that a text may need between two emoji or between letters of some
// scripts.
const zeroWidthChars = "\u200B\u200C\u200D\u2060\u2061\u2062\u2063\u2064\u180E\u034F\uFEFF"

const softHyphen = 0xAD

// hasHiddenChars reports whether a text has invisible characters that no script needs. These are direction controls,
// tags outside the emoji of a regional flag, several zero-width characters or variation selectors in a row, and
// invisible characters between two ASCII letters or digits. A soft hyphen between letters is harmless, because it only
// marks a place where the word may be divided.
func hasHiddenChars(text string) bool {
	joinerCount, selectorCount := 0, 0
	afterLetter := false // the previous character is an ASCII letter
	afterHidden := false // An ASCII letter, followed by invisible characters, precedes this character.
	for i, c := range text {
		if c < utf8.RuneSelf {
			isLetter := isWordByte(byte(c))
			if afterHidden && isLetter {
				return true
			}
			joinerCount = 0
			selectorCount = 0
			afterLetter = isLetter
			afterHidden = false
			continue
		}
		if unicode.Is(hiddenCharRanges, c) && !endsInFlag(text[:i]) {
			return true
		}
		switch {
		case strings.ContainsRune(zeroWidthChars, c):
			joinerCount++
			afterHidden = afterLetter || afterHidden
		case unicode.Is(unicode.Variation_Selector, c):
			selectorCount++
			afterHidden = afterLetter || afterHidden
		case !isInvisible(c):
			joinerCount = 0
			selectorCount = 0
			afterHidden = false
		case c != softHyphen:
			afterHidden = afterLetter || afterHidden
		}
		afterLetter = false
		if joinerCount > maxZeroWidthChars || selectorCount > maxZeroWidthChars {
			return true
		}
	}
	return false
}

// blackFlagRune is the first character of regional flags. Tags with the name of the region follow it.
const blackFlagRune = 0x1F3F4

// endsInFlag reports whether a text ends inside the emoji of a regional flag.
func endsInFlag(text string) bool {
	for text != "" {
		c, n := utf8.DecodeLastRuneInString(text)
		if c < 0xE0020 || c > 0xE007F {
			return c == blackFlagRune
		}
		text = text[:len(text)-n]
	}
	return false
}
