// This file decides when a query is run: after a pause in typing, and only the latest query
// counts.

package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// slowAfter is the time after which the screen says that it is still searching.
const slowAfter = 300 * time.Millisecond

// searchNumbers numbers the searches, so that answers to old searches can be ignored.
type searchNumbers struct {
	debounce time.Duration // delay between the last key and the search

	n     int       // number of the last search
	asked string    // query of the last search
	began time.Time // time when the last search began (zero after its answer has arrived)
	again bool      // repeat the same query after the answer
	due   time.Time // time of the next search (zero if none is scheduled)
}

// later schedules a search after the debounce delay and replaces the search that was scheduled
// before.
func (s *searchNumbers) later(now time.Time) effect {
	s.due = now.Add(s.debounce)
	return wake{s.due}
}

// isDue reports whether the scheduled search is due. If so, it clears the schedule.
func (s *searchNumbers) isDue(now time.Time) bool {
	if s.due.IsZero() || now.Before(s.due) {
		return false
	}
	s.due = time.Time{}
	return true
}

// ask starts a search. If a search for the same query is still running, ask lets it finish and
// repeats the query afterwards.
func (s *searchNumbers) ask(query string, now time.Time) []effect {
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

// markAnswered reports whether n is the last search, and marks it as answered if so.
func (s *searchNumbers) markAnswered(n int) bool {
	if n == s.n {
		s.began = time.Time{}
	}
	return n == s.n
}

// ignoreRunning makes the screen ignore the answer of the running search.
func (s *searchNumbers) ignoreRunning() {
	s.n = s.n + 1
	s.began = time.Time{}
	s.again = false
}

func (s *searchNumbers) running() bool { return !s.began.IsZero() }

// slow reports whether the running search has taken at least slowAfter.
func (s *searchNumbers) slow(now time.Time) bool {
	return s.running() && now.Sub(s.began) >= slowAfter
}

// missingEnd describes the missing end of an incomplete query, or returns "" for a complete
// query.
func missingEnd(query string) string {
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

// lastWord returns the last word of a query, and whether the query ends inside an open quotation.
// As in package query, a quotation can only begin where a word, a key or a value begins.
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
