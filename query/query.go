// Package query reads the language of queries, filters and dates, as people and
// models write it:
//
//	filter = { term }                              joined by "and"
//	term   = [ "-" ] key ":" value { "," value }   a comma is "or"
//	key    = word | quoted                         "quoted" is a label key as it stands
//	value  = word | quoted                         "two words", with Go's escapes
//
// Keys are the known label keys (project, tag, file, confidence), any other
// label key in a filter that stands alone, and the words kind, name, by, door,
// has, after, before, on. Dates are 2026-04-18, 2026-04, 2026 or RFC 3339.
//
// A quote opens where a word, a key or a value begins. Elsewhere, and without
// another to close it, it is an ordinary character.
package query

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// Parse reads a query: words, and among them terms of the filter language. A
// word is a term when it has one of the known keys, or a synonym of one (tags,
// type, since), and a value after the colon. A URL is none, nor is anything in
// quotes. See [ParseFilter] for errors.
//
// Other words may be operators, which [oxbow.RankOxbow] obeys and
// [oxbow.RankSeed] takes for words:
//
//	"two words"   an entry must hold these words one after another
//	+word         an entry must hold the word, in any of its forms
//	-word         an entry must not hold it; -"two words" likewise
//	word*         all words that begin so; +word* any of them, -word* none
//
// A sign before anything but two letters or a quote, as in -5, --flag or -v,
// and a star elsewhere, as in **bold**, are parts of a word. The Text of the
// query has all the words as they were typed.
//
// Date expressions among the words, such as "last week" or "in May 2023", stay
// words, and are listed in Dates too.
func Parse(s string, now time.Time) (oxbow.Query, error) {
	var q oxbow.Query
	var words, plain []string
	var o oxbow.Operators
	for _, w := range splitWords(s) {
		t, ok := cutTerm(w)
		if !ok || !syntax.IsKnown(t.key) || t.value == "" || strings.HasPrefix(t.value, "//") {
			words = append(words, w)
			if !addOperator(&o, w) {
				plain = append(plain, w)
			}
			continue
		}
		if err := t.addTo(&q.Filter, now); err != nil {
			return oxbow.Query{}, err
		}
	}
	q.Text = strings.Join(words, " ")
	if len(o.Must)+len(o.Not)+len(o.Prefixes) > 0 {
		ranked := slices.DeleteFunc(slices.Clone(o.Must), func(w string) bool { return strings.HasSuffix(w, "*") })
		o.Words = strings.TrimSpace(strings.Join(append(plain, ranked...), " "))
		q.Operators = &o
	}
	q.Dates = findDates(plain, now)
	return q, nil
}

// addOperator adds w to the operators if it is one, and reports whether it is.
func addOperator(o *oxbow.Operators, w string) bool {
	list, rest := &o.Must, strings.TrimPrefix(w, "+")
	if strings.HasPrefix(w, "-") {
		list, rest = &o.Not, w[1:]
	}
	switch {
	case strings.HasPrefix(rest, `"`):
		phrase, ok := unquotePhrase(rest)
		if ok {
			*list = append(*list, strings.TrimRight(phrase, "*")) // no prefix
		}
		return ok
	case !beginsWithWord(rest):
		return false
	}
	prefix, star := strings.CutSuffix(rest, "*")
	if (star && strings.ContainsFunc(prefix, func(r rune) bool { return !isWordRune(r) })) || (!star && rest == w) {
		return false
	}
	if rest != w {
		*list = append(*list, rest)
	}
	if star && list == &o.Must {
		o.Prefixes = append(o.Prefixes, prefix)
	}
	return true
}

// unquotePhrase returns the words of a quotation that is all of s.
func unquotePhrase(s string) (string, bool) {
	n := quoteLen(s)
	if n == 0 || n < len(s) || !strings.ContainsFunc(s, isWordRune) {
		return "", false
	}
	if phrase, err := strconv.Unquote(s); err == nil {
		return phrase, true
	}
	return s[1 : n-1], true
}

// beginsWithWord reports whether s begins with two letters, or with one that is
// not ASCII.
func beginsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	return unicode.IsLetter(r) && (isWordRune(next) || r >= utf8.RuneSelf)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
