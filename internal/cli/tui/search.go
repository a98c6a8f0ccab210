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

// slowSearchDelay is the time after which the screen says that it is still searching.
const slowSearchDelay = 300 * time.Millisecond

// searchState numbers the searches, so that answers to old searches can be ignored.
type searchState struct {
	debounce time.Duration // delay between the last key and the search

	searchNumber   int       // number of the last search
	lastQuery      string    // query of the last search
	startTime      time.Time // time when the last search began (zero after its answer has arrived)
	repeatQuery    bool      // repeat the same query after the answer
	nextSearchTime time.Time // time of the next search (zero if none is scheduled)
}

// scheduleSearch schedules a search after the debounce delay and replaces the search that was scheduled
// before.
func (s *searchState) scheduleSearch(now time.Time) effect {
	s.nextSearchTime = now.Add(s.debounce)
	return wakeEffect{s.nextSearchTime}
}

// takeDueSearch reports whether the scheduled search is due. If so, it clears the schedule.
func (s *searchState) takeDueSearch(now time.Time) bool {
	if s.nextSearchTime.IsZero() || now.Before(s.nextSearchTime) {
		return false
	}
	s.nextSearchTime = time.Time{}
	return true
}

// startSearch starts a search. If a search for the same query is still running, ask lets it finish and
// repeats the query afterwards.
func (s *searchState) startSearch(query string, now time.Time) []effect {
	if s.isRunning() && s.lastQuery == query {
		s.repeatQuery = true
		return nil
	}
	s.searchNumber = s.searchNumber + 1
	s.lastQuery = query
	s.startTime = now
	s.repeatQuery = false
	return []effect{searchEffect{s.searchNumber, query}, wakeEffect{now.Add(slowSearchDelay)}}
}

// markAnswered reports whether n is the last search, and marks it as answered if so.
func (s *searchState) markAnswered(n int) bool {
	if n == s.searchNumber {
		s.startTime = time.Time{}
	}
	return n == s.searchNumber
}

// ignoreRunningSearch makes the screen ignore the answer of the running search.
func (s *searchState) ignoreRunningSearch() {
	s.searchNumber = s.searchNumber + 1
	s.startTime = time.Time{}
	s.repeatQuery = false
}

func (s *searchState) isRunning() bool { return !s.startTime.IsZero() }

// isSlow reports whether the running search has taken at least slowSearchDelay.
func (s *searchState) isSlow(now time.Time) bool {
	return s.isRunning() && now.Sub(s.startTime) >= slowSearchDelay
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
	case strings.HasSuffix(bare, ":") && syntax.IsKnownKey(strings.TrimSuffix(bare, ":")):
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
