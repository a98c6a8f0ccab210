// Package query parses queries, filters and dates as people and models write them:
//
//	filter = { term }                              joined by "and"
//	term   = [ "-" ] key ":" value { "," value }   a comma is "or"
//	key    = word | quoted                         "quoted" is a literal label key
//	value  = word | quoted                         "two words", with Go's escapes
//
// A key is a known label key (project, tag, file, confidence) or one of the words kind,
// name, by, door, has, trust, after, before, until, on. [ParseFilter] also accepts other
// label keys. For dates, see [TimeFilter].
//
// A query may also say which memory of a home it searches, as in in:sessions (see [ParseRequest]).
//
// A quote character opens a quotation at the beginning of a word, key or value. In other
// places, or if no second quote follows, it is an ordinary character.
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

// Parse parses the query s, which consists of words and terms in the filter language. A word is a term if it has a
// known key or a synonym (tags, type, since), a colon and a value. URLs and quoted words are not terms. For errors, see
// [ParseFilter]. Dates such as "last week" are relative to the time now.
//
// Words may also be operators. [oxbow.RankOxbow] applies operators, while [oxbow.RankSeed] searches for them as
// ordinary words:
//
//	"two words"   the entry must have these words, one after the other
//	+word         the entry must have the word in any of its forms
//	-word         the entry must not have it; also -"two words"
//	word*         any word with this prefix; +word* requires one, -word* excludes all
//
// A plus or minus sign is an operator only if two letters or a quote follow. Otherwise, the sign is part of the word,
// so -5, --flag and -v are ordinary words. A star inside or around a word, as in **bold**, is also part of the word.
// The query's Text contains all words exactly as typed.
//
// Date expressions among the words, such as "last week" or "in May 2023", stay in Text and are also listed in Dates.
func Parse(s string, now time.Time) (oxbow.Query, error) { return parseWords(splitWords(s), now) }

// Names of the memories in a home that a query can search, as in in:sessions.
const (
	InNotes    = "notes"    // in:notes searches the entries of the memory
	InSessions = "sessions" // in:sessions searches the turns of past sessions
	inBoth     = "both"
)

// A Request is a query that also says which of a home's memories it searches.
type Request struct {
	Query        oxbow.Query
	Memory       string        // memory named by the term with the key "in", such as in:work, or ""
	Misspellings []Misspelling // words that were probably meant as terms of a filter
}

// A Misspelling is a word of a query that looks like a term with a misspelt key, such as projct:vtt. It is searched
// for as an ordinary word.
type Misspelling struct {
	Word string
	Err  error // the error that [ParseFilter] would return for Word
}

// ParseRequest is like [Parse], but also reads the term in:MEMORY, which names the memory to search: in:notes,
// in:sessions or in:both. It also reports words that look like misspelt terms. The term must be a separate word outside
// quotations, and is not part of the query's Text. If the term occurs several times, the last term counts. Any other
// word that begins with "in:" is an ordinary search word, because a text may contain such a word.
func ParseRequest(s string, now time.Time) (Request, error) {
	var r Request
	var words []string
	for _, w := range splitWords(s) {
		key, value, hasColon := strings.Cut(strings.TrimPrefix(w, "-"), ":")
		if w == "in:"+value && slices.Contains([]string{InNotes, InSessions, inBoth}, value) {
			r.Memory = value
			continue
		}
		words = append(words, w)
		if !hasColon || syntax.NearestKey(key) == "" {
			continue
		}
		if _, err := parseFilterTerm(w); err != nil {
			r.Misspellings = append(r.Misspellings, Misspelling{w, err})
		}
	}
	var err error
	r.Query, err = parseWords(words, now)
	return r, err
}

// parseWords parses a query that was split into words.
func parseWords(queryWords []string, now time.Time) (oxbow.Query, error) {
	var q oxbow.Query
	var words, plain []string
	var o oxbow.Operators
	for _, w := range queryWords {
		t, ok := parseTerm(w)
		if !ok || !t.isFilter() {
			words = append(words, w)
			if !addOperator(&o, w) {
				plain = append(plain, w)
			}
			continue
		}
		if err := t.addToFilter(&q.Filter, now); err != nil {
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

// isFilter reports whether a term in a query is a filter, which has a known key and a value. If the value begins with
// two slashes, the word is a URL and not a filter.
func (t term) isFilter() bool {
	return syntax.IsKnownKey(t.key) && t.value != "" && !strings.HasPrefix(t.value, "//")
}

// addOperator adds the word to the operators if it has the form of an operator. Otherwise it returns false.
func addOperator(o *oxbow.Operators, word string) bool {
	list, rest := &o.Must, strings.TrimPrefix(word, "+")
	if strings.HasPrefix(word, "-") {
		list, rest = &o.Not, word[1:]
	}
	switch {
	case strings.HasPrefix(rest, `"`):
		phrase, ok := unquotePhrase(rest)
		if ok {
			// After a phrase, a star does not mean a prefix.
			*list = append(*list, strings.TrimRight(phrase, "*"))
		}
		return ok
	case !beginsWithWord(rest):
		return false
	}
	prefix, star := strings.CutSuffix(rest, "*")
	if star {
		if strings.ContainsFunc(prefix, func(r rune) bool { return !isWordRune(r) }) {
			return false
		}
	} else if rest == word {
		return false
	}
	if rest != word {
		*list = append(*list, rest)
	}
	if star && list == &o.Must {
		o.Prefixes = append(o.Prefixes, prefix)
	}
	return true
}

// unquotePhrase returns the text in a quotation. It returns false unless s is exactly one quotation that contains a
// word.
func unquotePhrase(s string) (string, bool) {
	n := quotationLen(s)
	if n == 0 || n < len(s) {
		return "", false
	}
	if !strings.ContainsFunc(s, isWordRune) {
		return "", false
	}
	if phrase, err := strconv.Unquote(s); err == nil {
		return phrase, true
	}
	return s[1 : n-1], true
}

// beginsWithWord reports whether s begins with a word. A single letter that is not ASCII counts as a word, because in
// some scripts a word has only one character. After an ASCII letter, a letter, number or mark must follow.
func beginsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	return unicode.IsLetter(r) && (isWordRune(next) || r >= utf8.RuneSelf)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
