// This file implements the hit list, in which one hit is chosen.

package tui

import "slices"

// hitList contains the last answer and the position in it.
type hitList struct {
	QueryResult
	answeredQuery string // query of the answer
	hasAnswer     bool   // there is an answer
	chosenIndex   int
	firstVisible  int    // index of the first hit that is shown
	wantedName    string // name of the entry that the next answer should choose, or ""
}

// setAnswer replaces the answer. If isSameQuery is set, the answer is to the same query and the chosen entry
// stays chosen.
func (l *hitList) setAnswer(f QueryResult, isSameQuery bool) {
	was, ok := l.chosenHit()
	l.QueryResult, l.hasAnswer = f, true
	name := was.Name
	if l.wantedName != "" {
		name, l.wantedName = l.wantedName, ""
	}
	at := -1
	hasChoice := ok && isSameQuery
	if hasChoice || name != was.Name {
		at = slices.IndexFunc(f.Hits, func(h Hit) bool { return h.Name == name })
		if at < 0 { // choose the entry that took its place
			at = min(l.chosenIndex, len(f.Hits)-1)
		}
	}
	l.chosenIndex = max(at, 0)
}

// chosenHit returns the chosen entry.
func (l *hitList) chosenHit() (Hit, bool) {
	if l.chosenIndex >= len(l.Hits) {
		return Hit{}, false
	}
	return l.Hits[l.chosenIndex], true
}

// moveChoice moves the choice down by the given number of rows, or up if the number is negative, but
// not beyond the list's ends. It reports whether the choice changed.
func (l *hitList) moveChoice(rows int) bool {
	to := max(min(l.chosenIndex+rows, len(l.Hits)-1), 0)
	moved := to != l.chosenIndex
	l.chosenIndex = to
	return moved
}

// visibleHits returns the hits that fit the given number of rows, and the chosen hit's index among them.
func (l *hitList) visibleHits(rows int) (hits []Hit, chosen int) {
	if rows < 1 {
		return nil, 0
	}
	l.firstVisible = max(min(l.firstVisible, l.chosenIndex, len(l.Hits)-rows), l.chosenIndex-rows+1, 0)
	return l.Hits[l.firstVisible:min(l.firstVisible+rows, len(l.Hits))], l.chosenIndex - l.firstVisible
}
