// This file decides when a query is run. It waits for a pause in typing, and ignores the answers to all but the latest
// query.

package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// slowSearchDelay is the time after which the screen tells the person that a search is still running.
const slowSearchDelay = 300 * time.Millisecond

// searchState schedules and numbers searches. By the numbers, it recognizes the answers to old searches.
type searchState struct {
	debounce time.Duration // time between the last key and the start of the search

	lastSearchNumber  int       // number of the search that was started last
	lastQuery         string    // query of the last search
	startTime         time.Time // time at which the last search started (zero after its answer has arrived)
	shouldRepeatQuery bool      // run the same query again after its answer has arrived
	nextSearchTime    time.Time // time at which the next search starts (zero if none is scheduled)
}

// scheduleSearch schedules a search for the end of the debounce delay. An earlier schedule is replaced.
func (s *searchState) scheduleSearch(now time.Time) modelEffect {
	s.nextSearchTime = now.Add(s.debounce)
	return timerEffect{s.nextSearchTime}
}

// unscheduleIfDue reports whether the scheduled search is due. If so, it clears the schedule.
func (s *searchState) unscheduleIfDue(now time.Time) bool {
	if s.nextSearchTime.IsZero() || now.Before(s.nextSearchTime) {
		return false
	}
	s.nextSearchTime = time.Time{}
	return true
}

// startSearch starts a search for a query. If a search for the same query is running, startSearch lets that search
// finish and repeats the query afterwards.
func (s *searchState) startSearch(query string, now time.Time) []modelEffect {
	if s.isRunning() && s.lastQuery == query {
		s.shouldRepeatQuery = true
		return nil
	}
	s.lastSearchNumber = s.lastSearchNumber + 1
	s.lastQuery = query
	s.startTime = now
	s.shouldRepeatQuery = false
	return []modelEffect{searchEffect{s.lastSearchNumber, query}, timerEffect{now.Add(slowSearchDelay)}}
}

// markSearchAnswered records that the answer to search searchNumber has arrived. It returns false, and does nothing,
// unless searchNumber is the last search.
func (s *searchState) markSearchAnswered(searchNumber int) bool {
	if searchNumber == s.lastSearchNumber {
		s.startTime = time.Time{}
	}
	return searchNumber == s.lastSearchNumber
}

// ignoreRunningSearch ensures that the answer to the running search is not shown.
func (s *searchState) ignoreRunningSearch() {
	s.lastSearchNumber = s.lastSearchNumber + 1
	s.startTime = time.Time{}
	s.shouldRepeatQuery = false
}

func (s *searchState) isRunning() bool { return !s.startTime.IsZero() }

// isSlow reports whether a search has been running for at least slowSearchDelay.
func (s *searchState) isSlow(now time.Time) bool {
	return s.isRunning() && now.Sub(s.startTime) >= slowSearchDelay
}

// incompleteQueryReason returns the reason why a query's end is incomplete. It returns "" if the query is complete.
func incompleteQueryReason(query string) string {
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

// lastWord returns the last word of a query, and whether the query ends inside an open quotation. As in package query,
// a quotation can only begin at the beginning of a word, a key or a value.
func lastWord(query string) (word string, isQuoteOpen bool) {
	start := 0
	begins := true
	escaped := false
	for i, r := range query {
		switch {
		case isQuoteOpen && escaped:
			escaped = false
		case isQuoteOpen:
			isQuoteOpen, escaped = r != '"', r == '\\'
		case unicode.IsSpace(r):
			start, begins = i+utf8.RuneLen(r), true
		default:
			isQuoteOpen = r == '"' && begins
			begins = r == ':' || r == ',' || (begins && (r == '+' || r == '-'))
		}
	}
	return query[start:], isQuoteOpen
}
