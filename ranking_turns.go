// This file ranks the turns of a talk: by what is said beside them, by who
// speaks, and by whether they ask or tell.

package oxbow

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/bm25"
)

// What RankOxbow makes of turns. A turn is short, and what it is about was
// often said before.
const (
	turnLook = 10 // the best of the hits that are wanted, one of which must be a turn for all this
	turnPool = 30 // the best hits without all this, which are candidates; more when more are wanted
	turnNext = 2  // turns beside those that are candidates, too

	besideReach   = 5   // turns to each side that give a part of what a term gives them
	besideAsked   = 0.9 // that part: of the turn before, when it is a question
	besideBefore  = 0.6 // … when it is none
	besideAfter   = 0.4 // … of the turn after
	besideFurther = 0.3 // … of all others

	besideTime = time.Hour // turns of one talk are created within

	factorSpeaker = 1.5 // the query names who speaks
	factorAsks    = 0.8 // it ends in a question
	factorTime    = 1.3 // the query asks for a time, and it tells one
)

func isTurn(e *Entry) bool { return e != nil && analysis.IsTurn(e.Content) }

// pool returns how many hits of the index are candidates when so many turns are
// wanted.
func pool(limit int) int { return max(turnPool, limit+limit/2) }

// turns ranks the candidates anew, as turns of a talk. The candidates are the
// hits of the index and the turns beside those.
func (r *ranking) turns(s *shelf, p *plan, found []bm25.Hit, limit int) []bm25.Hit {
	ids := make([]uint64, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	t := newTalk(r, s, p, ids)
	defer t.release()
	order := func(a, b bm25.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c // without looking up the entries
		}
		return cmp.Or(s.newer(a.ID, b.ID), cmp.Compare(a.ID, b.ID))
	}
	hits := make([]bm25.Hit, 0, min(limit, len(t.candidates))+1)
	a := &t.spare
	for _, i := range t.candidates {
		t.account(i, a)
		h := bm25.Hit{ID: t.places[i].id, Score: a.score}
		if h.Score <= 0 || len(hits) == limit && order(hits[limit-1], h) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, h, order)
		hits = slices.Insert(hits, at, h)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// talk is what ranking turns looks at: the candidates and all that stands
// beside them.
type talk struct {
	r          *ranking
	s          *shelf
	p          *plan
	candidates []int   // indexes of places, rising
	places     []place // rising by id, without gaps around each candidate
	parts      bm25.Parts
	dates      []bool          // which of the query's terms are of dates: a turn has its own
	named      map[uint32]bool // by speaker: whether the query names it

	ids   []uint64 // scratch
	spare account
}

// place is an entry, or an id that nobody has.
type place struct {
	id     uint64
	parts  []float64 // what each term gives it by itself; nil when it is not in the index
	most   float64   // of parts
	looked bool
	turn   // none when it is hidden by the plan; complete when it was looked at
}

// spareTalks are there to be used again: one has some 50 kB.
var spareTalks = sync.Pool{New: func() any { return &talk{named: map[uint32]bool{}} }}

// newTalk looks up what stands beside the entries, and makes their nearest
// turns candidates, too. Whoever holds on to nothing of it may release it.
func newTalk(r *ranking, s *shelf, p *plan, ids []uint64) *talk {
	t := spareTalks.Get().(*talk)
	t.r, t.s, t.p = r, s, p
	slices.Sort(ids)
	for _, id := range ids {
		const reach = turnNext + besideReach
		from, last := id-min(id, reach), id+min(reach, math.MaxUint64-id)
		if n := len(t.ids); n > 0 {
			if t.ids[n-1] == last {
				continue // there are no larger ones
			}
			from = max(from, t.ids[n-1]+1)
		}
		for n := from; n < last; n++ {
			t.ids = append(t.ids, n)
		}
		t.ids = append(t.ids, last)
	}
	r.index.Parts(&t.parts, t.ids, p.terms)
	for _, text := range t.parts.Terms {
		t.dates = append(t.dates, strings.HasPrefix(text, datePrefix))
	}
	t.places = slices.Grow(t.places, len(t.ids))
	for i, id := range t.ids {
		n := place{id: id, parts: t.parts.Of(i)}
		for _, given := range n.parts {
			n.most = max(n.most, given)
		}
		t.places = append(t.places, n)
	}
	s.turns.fill(t.places)
	for _, id := range ids {
		i := t.find(id)
		t.candidates = append(t.candidates, i)
		t.beside(i, turnNext, nil, func(n *place, step int) { t.candidates = append(t.candidates, i+step) })
	}
	slices.Sort(t.candidates)
	t.candidates = slices.Compact(t.candidates)
	return t
}

// release gives the room of a talk back.
func (t *talk) release() {
	clear(t.named)
	clear(t.parts.Terms)
	*t = talk{candidates: t.candidates[:0], places: t.places[:0], parts: t.parts, dates: t.dates[:0], named: t.named, ids: t.ids[:0], spare: t.spare}
	spareTalks.Put(t)
}

// look looks at a place, which may be reading a file: most places give nothing
// to anybody.
func (t *talk) look(i int) *place {
	n := &t.places[i]
	if n.looked {
		return n
	}
	n.looked = true
	if n.parts == nil {
		n.turn = turn{}
		return n
	}
	if !n.known {
		n.turn = t.s.turns.note(n.id, t.s.doc(n.id))
	}
	if n.is && t.p.allow != nil && !t.p.allow(n.id) {
		n.turn = turn{}
	}
	return n
}

// find returns the index of the place of that id.
func (t *talk) find(id uint64) int {
	i, _ := slices.BinarySearchFunc(t.places, id, func(p place, id uint64) int { return cmp.Compare(p.id, id) })
	return i
}

// beside calls fn with the turns at most so many steps beside a turn: of the
// same session when they say one, created within the hour, and selected by the
// plan. Turns that were written one after another have IDs that follow each
// other; what stands between, and is none, is passed over. A place that is not
// worth it, when that is asked, is not looked at. What is no turn has none
// beside it.
func (t *talk) beside(i, reach int, worth func(n *place, step int) bool, fn func(n *place, step int)) {
	own := t.look(i)
	if !own.is {
		return
	}
	for n := range 2 * reach {
		step := n/2 + 1 // the nearest first
		if n%2 == 0 {
			step = -step
		}
		j := i + step
		if j < 0 || j >= len(t.places) || t.places[j].id != own.id+uint64(int64(step)) {
			continue
		}
		if n := &t.places[j]; worth != nil && (n.most == 0 || !worth(n, step)) {
			continue
		}
		if n := t.look(j); n.is && n.session == own.session && n.near(own.created) {
			fn(n, step)
		}
	}
}

// account says where the score of an entry comes from: it is the sum of what
// the terms give, times each of the factors.
type account struct {
	terms   []float64 // what each term gives
	from    []uint64  // the entry beside that gives it, 0 for the entry itself
	factors []factor
	score   float64
}

type factor struct {
	why string
	by  float64
}

// account sets a to what each term gives to the candidate at a place: the most
// of what it gives by itself and of the parts that the turns beside give. The
// room that a has is used again.
func (t *talk) account(i int, a *account) {
	own := t.look(i)
	a.terms, a.from = append(a.terms[:0], own.parts...), append(a.from[:0], make([]uint64, len(own.parts))...)
	a.factors, a.score = a.factors[:0], 0
	part := func(step int, asks bool) float64 {
		switch {
		case step == -1 && asks:
			return besideAsked
		case step == -1:
			return besideBefore
		case step == 1:
			return besideAfter
		}
		return besideFurther
	}
	worth := func(n *place, step int) bool { // if it may give more than there is
		part := part(step, true)
		for k, given := range n.parts {
			if part*given > a.terms[k] && !t.dates[k] {
				return true
			}
		}
		return false
	}
	t.beside(i, besideReach, worth, func(n *place, step int) {
		part := part(step, n.asks)
		for k, given := range n.parts {
			if given := part * given; given > a.terms[k] && !t.dates[k] {
				a.terms[k], a.from[k] = given, n.id
			}
		}
	})
	for _, given := range a.terms {
		a.score += given
	}
	if own.is && a.score > 0 {
		if t.names(own.speaker) {
			a.factors = append(a.factors, factor{"who speaks", factorSpeaker})
		}
		if own.asks {
			a.factors = append(a.factors, factor{"it asks", factorAsks})
		}
		if t.p.when && t.tellsWhen(own) {
			a.factors = append(a.factors, factor{"it tells when", factorTime})
		}
	}
	if t.p.recency != nil {
		a.factors = append(a.factors, factor{"age", t.p.recency(own.id)})
	}
	for _, f := range a.factors {
		a.score *= f.by
	}
}

// names reports whether a word of the query is one of the speaker's name.
func (t *talk) names(speaker uint32) bool {
	named, ok := t.named[speaker]
	if !ok {
		for _, term := range t.r.an.Sequence(t.s.turns.name(speaker)) {
			named = named || slices.ContainsFunc(t.p.words, func(w planned) bool { return w.term == term })
		}
		t.named[speaker] = named
	}
	return named
}

// tellsWhen reports whether a turn tells a time.
func (t *talk) tellsWhen(n *place) bool {
	if n.when == whenUnknown {
		n.when = whenNot
		if e := t.s.doc(n.id); e != nil && t.r.an.TellsWhen(e.Content) {
			n.when = whenTold
		}
		t.s.turns.noteWhen(n.id, n.when)
	}
	return n.when == whenTold
}
