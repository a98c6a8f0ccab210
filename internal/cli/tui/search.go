// When a query is asked: once keys pause, and the latest one wins.

package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// slowAfter is how long an answer takes before the screen says that it is awaited.
const slowAfter = 300 * time.Millisecond

// searching numbers searches, so that answers to older ones are dropped.
type searching struct {
	debounce time.Duration // from the last key to a search

	n     int       // the last search
	asked string    // its query
	began time.Time // zero once its answer has come
	again bool      // the same query is asked again then
	due   time.Time // of the next search; zero for none
}

// later has a search made when no key comes for a while.
func (s *searching) later(now time.Time) effect {
	s.due = now.Add(s.debounce)
	return wake{s.due}
}

// isDue reports whether it is time for the search that was put off.
func (s *searching) isDue(now time.Time) bool {
	if s.due.IsZero() || now.Before(s.due) {
		return false
	}
	s.due = time.Time{}
	return true
}

// ask searches. A search of the same query that still runs is not overtaken, so that
// its answer is shown.
func (s *searching) ask(query string, now time.Time) []effect {
	if s.running() && s.asked == query {
		s.again = true
		return nil
	}
	s.n = s.n + 1
	s.asked = query
	s.began = now
	s.again = false
	return []effect{search{s.n, query}, wake{now.Add(slowAfter)}}
}

// answered reports whether the answer to that search is the one that is awaited.
func (s *searching) answered(n int) bool {
	if n == s.n {
		s.began = time.Time{}
	}
	return n == s.n
}

// drop has no answer awaited.
func (s *searching) drop() {
	s.n = s.n + 1
	s.began = time.Time{}
	s.again = false
}

func (s *searching) running() bool { return !s.began.IsZero() }

// slow reports whether an answer is awaited for long.
func (s *searching) slow(now time.Time) bool {
	return s.running() && now.Sub(s.began) >= slowAfter
}

// unfinished says what a query that is being typed lacks at its end, "" for nothing.
func unfinished(query string) string {
	word, open := lastWord(query)
	switch bare := strings.TrimLeft(word, "+-"); {
	case open:
		return "the quotation is open"
	case word != "" && bare == "":
		return "a word follows " + word
	case strings.HasSuffix(bare, ":") && syntax.IsKnown(strings.TrimSuffix(bare, ":")):
		return bare + " lacks its value"
	}
	return ""
}

// lastWord returns the word that a query ends with, and whether it has a quotation
// that is open. As package query has it, one opens where a word, a key or a value
// begins.
func lastWord(query string) (word string, open bool) {
	start := 0
	begins := true
	escaped := false
	for i, r := range query {
		switch {
		case open && escaped:
			escaped = false
		case open:
			open, escaped = r != '"', r == '\\'
		case unicode.IsSpace(r):
			start, begins = i+utf8.RuneLen(r), true
		default:
			open = r == '"' && begins
			begins = r == ':' || r == ',' || (begins && (r == '+' || r == '-'))
		}
	}
	return query[start:], open
}
