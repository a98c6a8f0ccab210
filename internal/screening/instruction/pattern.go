// This file finds the positions at which a match of a rule may begin.

package instruction

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// pattern is a regular expression that is tried only at the positions where a match can begin. This is faster than
// [regexp.Regexp], which examines the whole text and needs 50 ns per byte.
type pattern struct {
	anchoredExpr   *regexp.Regexp // matches any one character, followed by a match of the pattern
	unanchoredExpr func() *regexp.Regexp
	prefixes       []string // sorted prefixes (each match begins with a prefix)
	// For each byte value, an index in the sorted list prefixes. At this index is the first prefix that begins with
	// this byte or a greater byte.
	firstPrefixIndexes [1<<8 + 1]uint16
	isAtWordStart      bool // The pattern matches only at the start of a word.
	// The pattern matches only at the start of a line, or after characters that do not belong to a word, such as "- ".
	isAtLineStart bool
	maxLength     int // maximum length of a match in bytes (negative if unlimited)
}

// newPattern compiles a regular expression. If expr begins with ^, a match must begin at the start of a line, but
// characters that do not belong to a word, such as "- ", may precede it. newPattern panics if expr is invalid, or if a
// match can begin with any character.
func newPattern(expr string) *pattern {
	expr, isAtLineStart := strings.CutPrefix(expr, "^")
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	p := &pattern{
		anchoredExpr: regexp.MustCompile(`\A(?s:.)(?:` + expr + `)`),
		unanchoredExpr: sync.OnceValue(func() *regexp.Regexp {
			if isAtLineStart {
				expr = `(?m)^\W*(?:` + expr + `)`
			}
			return regexp.MustCompile(expr)
		}),
		isAtWordStart: beginsWithBoundary(re),
		isAtLineStart: isAtLineStart,
		maxLength:     utf8.UTFMax * maxMatchLength(re),
	}
	p.prefixes, _ = listMatchPrefixes(re)
	slices.Sort(p.prefixes)
	// Delete each prefix that begins with another prefix, because the shorter prefix finds the same matches.
	shorter := "\x00"
	p.prefixes = slices.DeleteFunc(p.prefixes, func(s string) bool {
		isCovered := strings.HasPrefix(s, shorter)
		if !isCovered {
			shorter = s
		}
		return isCovered
	})
	if p.prefixes[0] == "" {
		panic("a match may begin with anything: " + expr)
	}
	for c := range p.firstPrefixIndexes {
		p.firstPrefixIndexes[c] = uint16(
			sort.Search(len(p.prefixes), func(i int) bool { return int(p.prefixes[i][0]) >= c }),
		)
	}
	return p
}

// matchesText reports whether a text matches the pattern. The text must begin with a line break, because a match needs
// a character before it. matchesText tries the regular expression only at the places where one of the pattern's
// prefixes begins. If the text has so many of these places that this is slow, matchesText searches the whole text with
// a single call of the regular expression instead.
func (p *pattern) matchesText(text string) bool {
	tries, maxLength := 32+len(text)/64, p.maxLength
	if maxLength < 0 {
		tries, maxLength = 8, len(text)
	}
	for i := 1; i < len(text); i++ {
		candidates := p.prefixes[p.firstPrefixIndexes[text[i]]:p.firstPrefixIndexes[int(text[i])+1]]
		if len(candidates) == 0 {
			continue
		}
		if !p.mayMatchAfter(text[:i]) || !beginsWithAny(text[i:], candidates) {
			continue
		}
		tries--
		if tries < 0 {
			return p.unanchoredExpr().MatchString(text)
		}
		_, n := utf8.DecodeLastRuneInString(text[:i])
		if p.anchoredExpr.MatchString(text[i-n : min(len(text), i+maxLength+1)]) {
			return true
		}
	}
	return false
}

// beginsWithAny reports whether a text begins with one of the prefixes.
func beginsWithAny(text string, others []string) bool {
	return slices.ContainsFunc(others, func(s string) bool { return strings.HasPrefix(text, s) })
}

// mayMatchAfter reports whether the pattern can match directly after a text. A pattern that matches only at the start
// of a word cannot match after a letter or digit. A pattern that matches only at the start of a line cannot match if
// the line already contains a word. The text must not be empty.
func (p *pattern) mayMatchAfter(precedingText string) bool {
	if p.isAtWordStart && isWordByte(precedingText[len(precedingText)-1]) {
		return false
	}
	for i := len(precedingText) - 1; p.isAtLineStart && i >= 0 && precedingText[i] != '\n'; i-- {
		if isWordByte(precedingText[i]) {
			return false
		}
	}
	return true
}

// isWordByte reports whether \b treats a byte as a part of a word.
func isWordByte(c byte) bool {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
}

// beginsWithBoundary reports whether a regular expression begins with \b, so that it matches only at a word boundary.
func beginsWithBoundary(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpCapture, syntax.OpConcat:
		return beginsWithBoundary(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !beginsWithBoundary(s) })
	}
	return false
}

// Each match of a regular expression begins with one of its prefixes. maxPatternPrefixes is the maximum number of
// prefixes for one expression. If there would be more, fewer and shorter prefixes are used.
const maxPatternPrefixes = 64

// listMatchPrefixes returns prefixes such that every match of the expression re begins with at least one prefix.
// areCompleteMatches is true if the prefixes are all the matches of the expression. If nothing is known about the
// matches, listMatchPrefixes returns an empty prefix and false.
func listMatchPrefixes(re *syntax.Regexp) (all []string, areCompleteMatches bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}, true
		}
	case syntax.OpCharClass:
		return listChars(re.Rune)
	case syntax.OpCapture:
		return listMatchPrefixes(re.Sub[0])
	case syntax.OpQuest:
		all, areCompleteMatches = listMatchPrefixes(re.Sub[0])
		return append(all, ""), areCompleteMatches
	case syntax.OpAlternate:
		areCompleteMatches = true
		for _, sub := range re.Sub {
			prefixes, w := listMatchPrefixes(sub)
			all, areCompleteMatches = append(all, prefixes...), areCompleteMatches && w
		}
		return all, areCompleteMatches
	case syntax.OpConcat:
		return concatPrefixes(re.Sub)
	}
	return []string{""}, false
}

// listChars returns the characters in the ranges. Two consecutive elements of ranges are the first and the last
// character of a range. If the ranges contain more than maxPatternPrefixes characters, listChars returns a list with
// only the empty string, and false.
func listChars(ranges []rune) (all []string, areAllListed bool) {
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			all = append(all, string(c))
			if len(all) > maxPatternPrefixes {
				return []string{""}, false
			}
		}
	}
	return all, true
}

// concatPrefixes returns the texts with which a match of a regular expression can begin. The expression consists of the
// expressions in subs, which must match in order. areCompleteMatches is true if the returned texts are complete
// matches. If there would be more than maxPatternPrefixes texts, concatPrefixes returns shorter texts, and
// areCompleteMatches is false.
func concatPrefixes(subs []*syntax.Regexp) (all []string, areCompleteMatches bool) {
	all, areCompleteMatches = []string{""}, true
	for _, sub := range subs {
		next, w := listMatchPrefixes(sub)
		if !areCompleteMatches || len(all)*len(next) > maxPatternPrefixes {
			return all, false
		}
		var longer []string
		for _, a := range all {
			for _, b := range next {
				longer = append(longer, a+b)
			}
		}
		all, areCompleteMatches = longer, w
	}
	return all, areCompleteMatches
}

// maxMatchLength returns the maximum number of characters in a match. If the number is unlimited, maxMatchLength
// returns a negative number.
func maxMatchLength(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return 0
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return maxMatchLength(re.Sub[0])
	case syntax.OpRepeat:
		return min(re.Max, re.Max*maxMatchLength(re.Sub[0]))
	}
	length := 0
	for _, sub := range re.Sub {
		n := maxMatchLength(sub)
		switch {
		case n < 0 || re.Op == syntax.OpStar || re.Op == syntax.OpPlus:
			return -1
		case re.Op == syntax.OpAlternate:
			length = max(length, n)
		default:
			length += n
		}
	}
	return length
}
