// This file implements the hit list, in which one hit is chosen.

package tui

import "slices"

// list contains the last answer and the position in it.
type list struct {
	QueryResult
	of     string // query of the answer
	is     bool   // there is an answer
	chosen int
	top    int    // index of the first hit that is shown
	wanted string // name of the entry that the next answer should choose, or ""
}

// setAnswer replaces the answer. If same is set, the answer is to the same query and the chosen entry
// stays chosen.
func (l *list) setAnswer(f QueryResult, same bool) {
	was, ok := l.hit()
	l.QueryResult, l.is = f, true
	name := was.Name
	if l.wanted != "" {
		name, l.wanted = l.wanted, ""
	}
	at := -1
	hasChoice := ok && same
	if hasChoice || name != was.Name {
		at = slices.IndexFunc(f.Hits, func(h Hit) bool { return h.Name == name })
		if at < 0 { // choose the entry that took its place
			at = min(l.chosen, len(f.Hits)-1)
		}
	}
	l.chosen = max(at, 0)
}

// hit returns the chosen entry.
func (l *list) hit() (Hit, bool) {
	if l.chosen >= len(l.Hits) {
		return Hit{}, false
	}
	return l.Hits[l.chosen], true
}

// move moves the choice down by the given number of rows, or up if the number is negative, but
// not beyond the list's ends. It reports whether the choice changed.
func (l *list) move(rows int) bool {
	to := max(min(l.chosen+rows, len(l.Hits)-1), 0)
	moved := to != l.chosen
	l.chosen = to
	return moved
}

// visibleHits returns the hits that fit the given number of rows, and the chosen hit's index among them.
func (l *list) visibleHits(rows int) (hits []Hit, chosen int) {
	if rows < 1 {
		return nil, 0
	}
	l.top = max(min(l.top, l.chosen, len(l.Hits)-rows), l.chosen-rows+1, 0)
	return l.Hits[l.top:min(l.top+rows, len(l.Hits))], l.chosen - l.top
}
