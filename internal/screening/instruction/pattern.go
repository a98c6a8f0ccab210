// This file finds the positions where a match of a rule may begin.

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

// pattern is a regular expression that is tried only at positions where a match can begin. This is
// faster than [regexp.Regexp], which examines the whole text at 50 ns per byte.
type pattern struct {
	here   *regexp.Regexp // matches one character, followed by the expression
	whole  func() *regexp.Regexp
	starts []string         // sorted prefixes; each match begins with one of them
	first  [1<<8 + 1]uint16 // by first byte: index of the first prefix
	word   bool             // a match begins at the start of a word
	line   bool             // only signs may precede a match in its line
	reach  int              // maximum length of a match in bytes; negative if unlimited
}

// newPattern compiles an expression. An initial ^ means that only signs may precede a match in its
// line. newPattern panics if a match can begin with any character.
func newPattern(expr string) *pattern {
	expr, line := strings.CutPrefix(expr, "^")
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	p := &pattern{
		here: regexp.MustCompile(`\A(?s:.)(?:` + expr + `)`),
		whole: sync.OnceValue(func() *regexp.Regexp {
			if line {
				expr = `(?m)^\W*(?:` + expr + `)`
			}
			return regexp.MustCompile(expr)
		}),
		word:  beginsWord(re),
		line:  line,
		reach: utf8.UTFMax * longest(re),
	}
	p.starts, _ = starts(re)
	slices.Sort(p.starts)
	last := "\x00" // delete each prefix that itself begins with a shorter prefix
	p.starts = slices.DeleteFunc(p.starts, func(s string) bool {
		covered := strings.HasPrefix(s, last)
		if !covered {
			last = s
		}
		return covered
	})
	if p.starts[0] == "" {
		panic("a match may begin with anything: " + expr)
	}
	for c := range p.first {
		p.first[c] = uint16(sort.Search(len(p.starts), func(i int) bool { return int(p.starts[i][0]) >= c }))
	}
	return p
}

// in reports whether a text contains a match. The text must begin with a line break. If there are
// too many positions to try, in searches the whole text.
func (p *pattern) in(text string) bool {
	tries, reach := 32+len(text)/64, p.reach
	if reach < 0 {
		tries, reach = 8, len(text)
	}
	for i := 1; i < len(text); i++ {
		if some := p.starts[p.first[text[i]]:p.first[int(text[i])+1]]; len(some) == 0 || !p.mayBegin(text[:i]) ||
			!beginsWithAny(text[i:], some) {
			continue
		}
		tries--
		if tries < 0 {
			return p.whole().MatchString(text)
		}
		_, n := utf8.DecodeLastRuneInString(text[:i])
		if p.here.MatchString(text[i-n : min(len(text), i+reach+1)]) {
			return true
		}
	}
	return false
}

// beginsWithAny reports whether a text has one of the prefixes.
func beginsWithAny(text string, others []string) bool {
	return slices.ContainsFunc(others, func(s string) bool { return strings.HasPrefix(text, s) })
}

// mayBegin reports whether a match can begin directly after a text.
func (p *pattern) mayBegin(before string) bool {
	if p.word && isWord(before[len(before)-1]) {
		return false
	}
	for i := len(before) - 1; p.line && i >= 0 && before[i] != '\n'; i-- {
		if isWord(before[i]) {
			return false
		}
	}
	return true
}

// isWord reports whether \b treats a byte as part of a word.
func isWord(c byte) bool {
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
}

// beginsWord reports whether the expression always begins with \b.
func beginsWord(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpWordBoundary:
		return true
	case syntax.OpCapture, syntax.OpConcat:
		return beginsWord(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !beginsWord(s) })
	}
	return false
}

// mostStarts is the maximum number of prefixes. If an expression has more, shorter prefixes are
// used.
const mostStarts = 64

// starts returns prefixes such that each match begins with one of them. whole is true if the
// prefixes are complete matches.
func starts(re *syntax.Regexp) (all []string, whole bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}, true
		}
	case syntax.OpCharClass:
		return charsOf(re.Rune)
	case syntax.OpCapture:
		return starts(re.Sub[0])
	case syntax.OpQuest:
		all, whole = starts(re.Sub[0])
		return append(all, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			some, w := starts(sub)
			all, whole = append(all, some...), whole && w
		}
		return all, whole
	case syntax.OpConcat:
		return startsOfAll(re.Sub)
	}
	return []string{""}, false
}

// charsOf returns the characters in the ranges. If there are too many, it returns the empty prefix
// and false.
func charsOf(ranges []rune) (all []string, few bool) {
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			all = append(all, string(c))
			if len(all) > mostStarts {
				return []string{""}, false
			}
		}
	}
	return all, true
}

// startsOfAll is like starts, for a concatenation of expressions.
func startsOfAll(subs []*syntax.Regexp) (all []string, whole bool) {
	all, whole = []string{""}, true
	for _, sub := range subs {
		next, w := starts(sub)
		if !whole || len(all)*len(next) > mostStarts {
			return all, false
		}
		var longer []string
		for _, a := range all {
			for _, b := range next {
				longer = append(longer, a+b)
			}
		}
		all, whole = longer, w
	}
	return all, whole
}

// longest returns the maximum number of characters in a match, or a negative number if it is
// unlimited.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return 0
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpQuest:
		return longest(re.Sub[0])
	case syntax.OpRepeat:
		return min(re.Max, re.Max*longest(re.Sub[0]))
	}
	most := 0
	for _, sub := range re.Sub {
		n := longest(sub)
		switch {
		case n < 0 || re.Op == syntax.OpStar || re.Op == syntax.OpPlus:
			return -1
		case re.Op == syntax.OpAlternate:
			most = max(most, n)
		default:
			most += n
		}
	}
	return most
}
