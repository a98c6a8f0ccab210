// The list of hits, of which one is chosen.

package tui

import "slices"

// list is the last answer, and the place in it.
type list struct {
	Found
	of     string // the query that it answers
	is     bool   // there was an answer
	chosen int
	top    int    // the first hit that is shown
	wanted string // the name that the next answer is to choose, or ""
}

// set takes an answer. Of the same query, the chosen entry stays the chosen one.
func (l *list) set(f Found, same bool) {
	was, ok := l.hit()
	l.Found, l.is = f, true
	name := was.Name
	if l.wanted != "" {
		name, l.wanted = l.wanted, ""
	}
	at := -1
	if (ok && same) || name != was.Name {
		at = slices.IndexFunc(f.Hits, func(h Hit) bool { return h.Name == name })
		if at < 0 { // what took its place
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

// move chooses another entry, so many further down, and reports whether there is
// one that far.
func (l *list) move(by int) bool {
	to := max(min(l.chosen+by, len(l.Hits)-1), 0)
	moved := to != l.chosen
	l.chosen = to
	return moved
}

// shown returns the hits that are shown in so many rows, the chosen one among
// them, and which of them that is.
func (l *list) shown(rows int) (hits []Hit, chosen int) {
	if rows < 1 {
		return nil, 0
	}
	l.top = max(min(l.top, l.chosen, len(l.Hits)-rows), l.chosen-rows+1, 0)
	return l.Hits[l.top:min(l.top+rows, len(l.Hits))], l.chosen - l.top
}
