// This file implements the list of found entries on the search screen. The person chooses an entry in the list.

package tui

import "slices"

// hitList contains the answer to the last query, which hit is chosen, and how far the list is scrolled.
type hitList struct {
	QueryResult
	answeredQuery   string // query for which the hits in the list were found
	hasSearchAnswer bool   // at least one search has returned its result
	chosenIndex     int
	firstVisibleHit int // index of the first hit on the screen
	// name of the entry that becomes the chosen entry when the next search result arrives (may be "")
	restoredName string
}

// setAnswer replaces the list by the answer f, and chooses an entry of the new list:
//   - If l.restoredName names an entry, setAnswer chooses this entry and clears l.restoredName.
//   - Otherwise, if isSameQuery is set, the chosen entry stays chosen.
//   - Otherwise setAnswer chooses the first entry.
//
// If the new list does not contain the entry that must be chosen, setAnswer chooses the entry with the same index as
// the entry that was chosen before, or the last entry.
func (l *hitList) setAnswer(f QueryResult, isSameQuery bool) {
	was, ok := l.chosenHit()
	l.QueryResult, l.hasSearchAnswer = f, true
	name := was.Name
	if l.restoredName != "" {
		name, l.restoredName = l.restoredName, ""
	}
	at := -1
	hasChoice := ok && isSameQuery
	if hasChoice || name != was.Name {
		at = slices.IndexFunc(f.Hits, func(h Hit) bool { return h.Name == name })
		if at < 0 { // The chosen entry is gone. Choose the entry that is now at its index.
			at = min(l.chosenIndex, len(f.Hits)-1)
		}
	}
	l.chosenIndex = max(at, 0)
}

// chosenHit returns the chosen hit. The result is false if the list is empty.
func (l *hitList) chosenHit() (Hit, bool) {
	if l.chosenIndex >= len(l.Hits) {
		return Hit{}, false
	}
	return l.Hits[l.chosenIndex], true
}

// moveSelection moves the choice down by a number of rows, or up if the number is negative. The choice stops at the
// ends of the list. moveSelection reports whether the choice changed.
func (l *hitList) moveSelection(rows int) bool {
	to := max(min(l.chosenIndex+rows, len(l.Hits)-1), 0)
	moved := to != l.chosenIndex
	l.chosenIndex = to
	return moved
}

// visibleHits scrolls the list so that the chosen hit is visible. It returns the hits that fit into a number of rows,
// and the chosen hit's index among these hits.
func (l *hitList) visibleHits(rows int) (hits []Hit, chosenIndex int) {
	if rows < 1 {
		return nil, 0
	}
	l.firstVisibleHit = max(min(l.firstVisibleHit, l.chosenIndex, len(l.Hits)-rows), l.chosenIndex-rows+1, 0)
	return l.Hits[l.firstVisibleHit:min(l.firstVisibleHit+rows, len(l.Hits))], l.chosenIndex - l.firstVisibleHit
}
