// This file holds what ranking asks of each turn of a talk. One recall looks at
// hundreds of turns: reading their entries anew took most of its time.

package oxbow

import (
	"sync"

	"github.com/oxbow-memory/oxbow/internal/analysis"
)

// turn is what ranking asks of an entry.
type turn struct {
	created          int64  // nanoseconds since 1970
	session, speaker uint32 // numbers of names; 0 for none
	known            bool   // that all this was found out
	is               bool   // that it is a turn; else nothing else is said
	asks             bool   // it ends in a question
	when             when   // whether it tells a time
}

// when says whether a turn tells a time. It takes longest to find out, and few
// questions are for a time.
type when uint8

const (
	whenUnknown when = iota
	whenTold
	whenNot
)

// near reports whether the turn was created within besideTime of another.
func (t *turn) near(created int64) bool {
	a, b := min(t.created, created), max(t.created, created)
	return uint64(b)-uint64(a) <= uint64(besideTime)
}

// turnPage is how many turns are kept together. Those of a talk have IDs that
// follow each other.
const turnPage = 64

// turnTable keeps what was found out of entries, by ID.
type turnTable struct {
	mu      sync.RWMutex // guards the following
	pages   map[uint64]*[turnPage]turn
	numbers map[string]uint32 // of names
	names   []string          // by number less 1
}

// fill sets what is known of the places, rising by id.
func (t *turnTable) fill(places []place) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var page *[turnPage]turn
	for i := range places {
		if id := places[i].id; i == 0 || id%turnPage == 0 || id/turnPage != places[i-1].id/turnPage {
			page = t.pages[id/turnPage]
		}
		if page != nil {
			places[i].turn = page[places[i].id%turnPage]
		}
	}
}

// note keeps what an entry, nil for one that could not be read, says of itself.
func (t *turnTable) note(id uint64, e *Entry) turn {
	if e == nil {
		return turn{}
	}
	n := turn{known: true, is: isTurn(e)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pages == nil {
		t.pages, t.numbers = map[uint64]*[turnPage]turn{}, map[string]uint32{}
	}
	if n.is {
		session, _ := e.Label("session")
		n.session, n.speaker = t.number(session), t.number(analysis.Speaker(e.Content))
		n.created, n.asks = stamp(e.Created), analysis.Asks(e.Content)
	}
	page := t.pages[id/turnPage]
	if page == nil {
		page = new([turnPage]turn)
		t.pages[id/turnPage] = page
	}
	page[id%turnPage] = n
	return n
}

// noteWhen keeps whether the turn, which is known, tells a time.
func (t *turnTable) noteWhen(id uint64, w when) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pages[id/turnPage][id%turnPage].when = w
}

// number returns the number of a name, 0 for none.
func (t *turnTable) number(name string) uint32 {
	if name == "" {
		return 0
	}
	n, ok := t.numbers[name]
	if !ok {
		t.names = append(t.names, name)
		n = uint32(len(t.names))
		t.numbers[name] = n
	}
	return n
}

// name returns the name of that number.
func (t *turnTable) name(number uint32) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if number == 0 {
		return ""
	}
	return t.names[number-1]
}

// drop forgets what is known of an entry, which changed.
func (t *turnTable) drop(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if page := t.pages[id/turnPage]; page != nil {
		page[id%turnPage] = turn{}
	}
}
