// This file ranks the turns of a talk: by what is said beside them, by who
// speaks, and by whether they ask or tell.

package oxbow

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/rank"
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

func isTurn(e *Entry) bool { return e != nil && rank.IsTurn(e.Content) }

// turns ranks the candidates anew, as turns of a talk. The candidates are the
// best hits of the index and the turns beside those.
func (r *ranking) turns(s *shelf, p *plan, limit int) []bm25.Hit {
	found := r.index.Search(p.query(max(turnPool, limit+limit/2)))
	ids := make([]uint64, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	t := newTalk(r, s, p, ids)
	hits := make([]bm25.Hit, 0, len(t.candidates))
	var a account
	for _, id := range t.candidates {
		if t.account(id, &a); a.score > 0 {
			hits = append(hits, bm25.Hit{ID: id, Score: a.score})
		}
	}
	slices.SortFunc(hits, func(a, b bm25.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c // without looking up the entries
		}
		return cmp.Or(s.newer(a.ID, b.ID), cmp.Compare(a.ID, b.ID))
	})
	return hits[:min(limit, len(hits))]
}

// talk is what ranking turns looks at: the candidates and all that stands
// beside them.
type talk struct {
	r          *ranking
	s          *shelf
	p          *plan
	candidates []uint64 // rising
	places     []place  // rising by id, without gaps around each candidate
	dates      []bool   // which of the query's terms are of dates: a turn has its own
	named      map[string]bool
}

// place is an entry, or an id that nobody has.
type place struct {
	id    uint64
	parts []float64 // what each term gives it by itself; nil when it is not in the index

	known   bool   // whether what follows was looked up
	entry   *Entry // nil when it is no turn, or hidden by the plan
	session string
	asks    bool
}

// newTalk looks up what stands beside the entries, and makes their nearest
// turns candidates, too.
func newTalk(r *ranking, s *shelf, p *plan, ids []uint64) *talk {
	t := &talk{r: r, s: s, p: p, named: map[string]bool{}}
	ids = slices.Sorted(slices.Values(ids))
	all := make([]uint64, 0, len(ids)*(2*(turnNext+besideReach)+1))
	next := uint64(0) // the first id that is not in all
	for _, id := range ids {
		const reach = turnNext + besideReach
		for n := max(next, id-min(id, reach)); n <= id+reach; n++ {
			all = append(all, n)
		}
		next = id + reach + 1
	}
	texts, parts := r.index.Parts(all, p.terms)
	for _, text := range texts {
		t.dates = append(t.dates, strings.HasPrefix(text, datePrefix))
	}
	t.places = make([]place, len(all))
	for i, id := range all {
		t.places[i] = place{id: id, parts: parts[i]}
	}
	for _, id := range ids {
		t.candidates = append(t.candidates, id)
		all := func(*place, int) bool { return true }
		t.beside(t.find(id), turnNext, all, func(n *place, _ int) { t.candidates = append(t.candidates, n.id) })
	}
	slices.Sort(t.candidates)
	t.candidates = slices.Compact(t.candidates)
	return t
}

// look looks a place up, which may be reading a file: most places give nothing
// to anybody.
func (t *talk) look(i int) *place {
	n := &t.places[i]
	if n.known {
		return n
	}
	n.known = true
	if n.parts == nil || t.p.allow != nil && !t.p.allow(n.id) {
		return n
	}
	if e := t.s.doc(n.id); isTurn(e) {
		n.session, _ = e.Label("session")
		n.entry, n.asks = e, rank.Asks(e.Content)
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
// other; what stands between, and is none, is passed over. A place that is not worth
// it is not looked up. What is no turn has none beside it.
func (t *talk) beside(i, reach int, worth func(n *place, step int) bool, fn func(n *place, step int)) {
	own := t.look(i)
	if own.entry == nil {
		return
	}
	for n := range 2 * reach {
		step := n/2 + 1 // the nearest first
		if n%2 == 0 {
			step = -step
		}
		j := i + step
		if j < 0 || j >= len(t.places) || t.places[j].id != own.id+uint64(int64(step)) || !worth(&t.places[j], step) {
			continue
		}
		n := t.look(j)
		if n.entry != nil && n.session == own.session && n.entry.Created.Sub(own.entry.Created).Abs() <= besideTime {
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

// account sets a to what each term gives to a candidate: the most of what it
// gives by itself and of the parts that the turns beside give. The room that a
// has is used again.
func (t *talk) account(id uint64, a *account) {
	i := t.find(id)
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
	if e := own.entry; e != nil && a.score > 0 {
		if t.names(rank.Speaker(e.Content)) {
			a.factors = append(a.factors, factor{"who speaks", factorSpeaker})
		}
		if own.asks {
			a.factors = append(a.factors, factor{"it asks", factorAsks})
		}
		if t.p.when && t.r.an.TellsWhen(e.Content) {
			a.factors = append(a.factors, factor{"it tells when", factorTime})
		}
	}
	if t.p.recency != nil {
		a.factors = append(a.factors, factor{"age", t.p.recency(id)})
	}
	for _, f := range a.factors {
		a.score *= f.by
	}
}

// names reports whether a word of the query is one of the speaker's name.
func (t *talk) names(speaker string) bool {
	named, ok := t.named[speaker]
	if !ok {
		for _, term := range t.r.an.Sequence(speaker) {
			named = named || slices.ContainsFunc(t.p.words, func(w planned) bool { return w.term == term })
		}
		t.named[speaker] = named
	}
	return named
}
