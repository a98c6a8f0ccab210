// Ranking of dialogues: a turn of a talk ranks by what its neighbours say, by its
// speaker, and by whether it asks or tells; a turn of a chat by whether a program
// said it; a whole dialogue by its best stretch, too.

package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// What Oxbow makes of turns. A turn is short, and what it is about was
// often said before.
const (
	speechLook = 10 // the best of the hits that are wanted, one of which must be of a dialogue for all this
	speechPool = 30 // the best hits without all this, which are candidates; more when more are wanted

	factorSpeaker = 1.5 // the query names who speaks
	factorAsks    = 0.8 // it ends in a question
	factorTime    = 1.3 // the query asks for a time, and it tells one
	factorProgram = 0.7 // a program said it, and the query is not for that

	// What a term of the query counts of a text, that is not 1.
	weightSpeaker = 0.5   // the name of who speaks, which says it by its factor
	leastShare    = 0.001 // of English texts that hold it, from which on it counts less in a chat
)

// pool returns how many hits of the index are candidates when so many turns are
// wanted.
func pool(limit int) int { return max(speechPool, limit+limit/2) }

// speeches are the parts of dialogues that a search found, as far as they change
// how it ranks.
type speeches struct {
	talks  bool // turns of talks
	chats  bool // turns of programs, and the query is not for those
	wholes bool // dialogues
}

// speeches returns which are among the hits.
func (v *View) speeches(p *Plan, found []index.Hit) (s speeches) {
	for i := range found {
		switch v.turnOf(v.found(&found[i])).kind {
		case analysis.TurnOfTalk:
			s.talks = true
		case analysis.TurnOfChat:
			s.chats = !p.you
		case analysis.WholeTalk, analysis.WholeChat:
			s.wholes = true
		}
	}
	return s
}

// rescore ranks the candidates again, as parts of dialogues. The candidates are
// the hits of the index and the turns next to those.
func (v *View) rescore(p *Plan, found []index.Hit, limit int) []index.Hit {
	p.long = nil
	if p.found.wholes {
		for _, h := range found[:min(len(found), stretchPool)] {
			p.long = append(p.long, h.ID)
		}
		slices.Sort(p.long)
	}
	d := newDialogue(v, p, found)
	defer d.release()
	p.besideLimit = d.besideLimit()
	order := func(a, b index.Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Or(v.newer(a, b), cmp.Compare(a.ID, b.ID))
	}
	hits := make([]index.Hit, 0, min(limit, len(d.candidates))+1)
	a := &d.spare
	slices.SortFunc(d.candidates, func(i, j int) int { return cmp.Compare(d.places[j].bound, d.places[i].bound) })
	for _, i := range d.candidates {
		if len(hits) == limit && d.places[i].bound < hits[limit-1].Score {
			break // the others need not be read
		}
		d.account(i, a)
		h := index.Hit{ID: d.places[i].id, Score: a.score}
		if h.Score <= 0 || (len(hits) == limit && h.Score < hits[limit-1].Score) {
			continue // without reading the entry
		}
		h.Data = d.item(i)
		if len(hits) == limit && order(hits[limit-1], h) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(hits, h, order)
		hits = slices.Insert(hits, at, h)
		hits = hits[:min(len(hits), limit)]
	}
	return hits
}

// dialogue is what ranking turns reads: the candidates and their neighbours.
type dialogue struct {
	v          *View
	p          *Plan
	candidates []int       // indexes of places, rising
	places     []candidate // rising by id, without gaps around each candidate
	scores     index.TermScores
	dates      []bool    // which of the query's terms are of dates: a turn has its own
	speakers   []speaker // those that were asked for: a talk has few

	rarity []float64 // what each term counts in a chat; nil until it is needed

	ids     []uint64 // scratch
	stretch *stretch // nil until one is looked for
	spare   account
}

// candidate is an entry, or an id that no entry has.
type candidate struct {
	id     uint64
	scores []float64 // what each term gives it by itself; nil when it is not in the index
	most   float64   // of scores
	bound  float64   // of its score, when it is a candidate
	item   Item      // nil until it is read
	turn   *turn     // nil until it is read; noTurn when the plan hides it
}

// spareDialogues are there to be used again: one has some 50 kB.
var spareDialogues = sync.Pool{New: func() any { return new(dialogue) }}

// newDialogue looks up the neighbours of what was found, and makes their nearest
// turns candidates, too. A caller that keeps nothing of it may release it.
func newDialogue(v *View, p *Plan, found []index.Hit) *dialogue {
	t := spareDialogues.Get().(*dialogue)
	t.v, t.p = v, p
	ids := make([]uint64, len(found))
	for i, h := range found {
		ids[i] = h.ID
	}
	slices.Sort(ids)
	reach := uint64(0)
	if p.found.talks {
		reach = turnNext + neighbourReach
	}
	for _, id := range ids {
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
	v.x.TermScores(&t.scores, t.ids, p.terms)
	for _, text := range t.scores.Terms {
		t.dates = append(t.dates, strings.HasPrefix(text, datePrefix))
	}
	t.places = slices.Grow(t.places, len(t.ids))
	for i, id := range t.ids {
		n := candidate{id: id, scores: t.scores.Of(i)}
		for _, given := range n.scores {
			n.most = max(n.most, given)
		}
		t.places = append(t.places, n)
	}
	for _, h := range found {
		t.places[t.find(h.ID)].item, _ = h.Data.(Item)
	}
	i := 0
	for _, id := range ids {
		for t.places[i].id < id {
			i++
		}
		t.candidates = append(t.candidates, i)
		t.neighbours(i, turnNext, nil, func(n *candidate, step int) { t.candidates = append(t.candidates, i+step) })
	}
	slices.Sort(t.candidates)
	t.candidates = slices.Compact(t.candidates)
	for _, i := range t.candidates {
		t.places[i].bound = t.bound(i)
	}
	return t
}

// bound returns a score that the entry of a place has at most: weights and factors are
// at most 1, but for turns of talks.
func (t *dialogue) bound(i int) float64 {
	if t.p.found.talks {
		return math.Inf(1)
	}
	_, long := slices.BinarySearch(t.p.long, t.places[i].id)
	sum := 0.0
	for k, given := range t.places[i].scores {
		if long && given > 0 {
			given += stretchPart * t.scores.Gains[k]
		}
		sum += given
	}
	return sum
}

// release gives the room of a dialogue back.
func (t *dialogue) release() {
	clear(t.speakers)
	t.scores.Release()
	clear(t.places)
	*t = dialogue{candidates: t.candidates[:0], places: t.places[:0], scores: t.scores, dates: t.dates[:0], speakers: t.speakers[:0], ids: t.ids[:0], spare: t.spare}
	spareDialogues.Put(t)
}

// read reads the turn of a place, which may be reading a file: most places give
// nothing to any other.
func (t *dialogue) read(i int) *candidate {
	n := &t.places[i]
	if n.turn != nil {
		return n
	}
	n.turn = noTurn
	if n.scores != nil {
		n.turn = t.v.turnOf(t.item(i))
	}
	if n.turn.kind == analysis.TurnOfTalk && t.p.accept != nil && !t.p.accept(n.id) {
		n.turn = noTurn
	}
	return n
}

// item returns the item of a place, nil when it cannot be read.
func (t *dialogue) item(i int) Item {
	n := &t.places[i]
	if n.item == nil {
		it, ok := t.scores.Data(i).(Item)
		if !ok {
			it = t.v.item(n.id)
		}
		n.item = it
	}
	return n.item
}

// find returns the index of the place of that id.
func (t *dialogue) find(id uint64) int {
	i, _ := slices.BinarySearchFunc(t.places, id, func(p candidate, id uint64) int { return cmp.Compare(p.id, id) })
	return i
}

// neighbours calls fn with the turns at most so many steps from a turn: of the
// same session if they have one, created within the hour, and selected by the
// plan. Consecutive turns have consecutive IDs; entries between them that are no
// turns are skipped. A candidate for which worth, if not nil, returns false is
// not read. An entry that is no turn has no neighbours.
func (t *dialogue) neighbours(i, reach int, worth func(n *candidate, step int) bool, fn func(n *candidate, step int)) {
	if !t.p.found.talks {
		return // and need not be read
	}
	own := t.read(i)
	if own.turn.kind != analysis.TurnOfTalk {
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
		if n := t.read(j); n.turn.next(own.turn) {
			fn(n, step)
		}
	}
}

// account says where the score of an entry comes from: it is the sum of what
// the terms give, and give to its best stretch, each times its weight, times each of
// the factors.
type account struct {
	terms   []float64    // what each term gives
	powers  []float64    // of terms, of a turn of a talk
	beside  []besideTerm // what neighbours have in them
	stretch []float64    // what each gives because of the best stretch; nil for nothing
	weights []float64    // of terms, for this entry; nil for 1
	why     string       // they are so
	factors []factor
	score   float64
}

type factor struct {
	why string
	by  float64
}

// account sets a to what each term gives to the candidate at a place. The room that
// a has is used again.
func (t *dialogue) account(i int, a *account) {
	own := t.read(i)
	a.terms = append(a.terms[:0], own.scores...)
	a.stretch = nil
	a.weights = nil
	a.factors = a.factors[:0]
	a.score = 0
	t.beside(i, own, a)
	if _, long := slices.BinarySearch(t.p.long, own.id); long {
		a.stretch = t.bestStretch(i)
	}
	switch {
	case own.turn.kind == analysis.WholeChat && t.p.found.wholes:
		a.weights, a.why = t.rarities(), "how common it is"
	case own.turn.kind == analysis.TurnOfTalk && t.p.found.talks:
		a.weights, a.why = t.speaker(own.turn.speaker).weights, "the name of who speaks"
	}
	for k, given := range a.terms {
		if a.stretch != nil {
			given += a.stretch[k]
		}
		if a.weights != nil {
			given = float64(given * a.weights[k])
		}
		a.score += given
	}
	if a.score > 0 {
		a.factors = t.factors(own, a.terms, a.factors)
	}
	if t.p.recency != nil {
		a.factors = append(a.factors, factor{"age", t.p.recency(own.id)})
	}
	for _, f := range a.factors {
		a.score *= f.by
	}
	t.limitBeside(i, own, a)
}

// rarities returns what each term counts in a chat with a program, of which each is
// about many things: the root of how much less it tells than a word that stands in
// one of a thousand texts of English.
func (t *dialogue) rarities() []float64 {
	if t.rarity == nil {
		for _, term := range t.scores.Terms {
			share := max(analysis.Share(term), leastShare)
			t.rarity = append(t.rarity, math.Sqrt(math.Log(share)/math.Log(leastShare)))
		}
	}
	return t.rarity
}

// bestStretch returns what each term gives to the score of an entry because of its
// best stretch, nil for nothing. The next call overwrites it.
func (t *dialogue) bestStretch(i int) []float64 {
	it := t.item(i)
	if it == nil || t.places[i].most == 0 {
		return nil
	}
	if t.stretch == nil {
		t.stretch = newStretch(t.scores.Terms)
	}
	return t.stretch.find(t.v.tokens(it), t.scores.Gains)
}

// factors appends what the score of a candidate is multiplied by, to which the
// terms give so much.
func (t *dialogue) factors(own *candidate, terms []float64, fs []factor) []factor {
	switch own.turn.kind {
	case analysis.TurnOfChat:
		if t.p.found.chats {
			fs = append(fs, factor{"a program says it", factorProgram})
		}
	case analysis.TurnOfTalk:
		if !t.p.found.talks {
			break
		}
		if share := t.coverage(terms); share < 1 {
			fs = append(fs, factor{"words it has not", math.Sqrt(math.Sqrt(share))})
		}
		if t.speaker(own.turn.speaker).weights != nil {
			fs = append(fs, factor{"who speaks", factorSpeaker})
		}
		if own.turn.asks {
			fs = append(fs, factor{"it asks", factorAsks})
		}
		if t.p.when && t.tellsWhen(own) {
			fs = append(fs, factor{"it tells when", factorTime})
		}
	}
	return fs
}

// coverage returns the share of the query's terms that give something, dates not
// counted, above 0 and at most 1. One that is found by its date alone has half a
// term. Its fourth root is the factor: a power takes five times as long, and is not
// the same to the last bit on all machines.
func (t *dialogue) coverage(terms []float64) float64 {
	has, all := 0, 0
	for k, given := range terms {
		if !t.dates[k] {
			all++
			if given > 0 {
				has++
			}
		}
	}
	if all == 0 {
		return 1
	}
	return max(float64(has), .5) / float64(all)
}

// speaker is who speaks in a turn.
type speaker struct {
	name    unique.Handle[string]
	weights []float64 // of terms, in the turn; nil when the query does not name the speaker
}

// speaker returns what a query says of who speaks: whether a word of it is one of the
// name.
func (t *dialogue) speaker(name unique.Handle[string]) *speaker {
	for i := range t.speakers {
		if t.speakers[i].name == name {
			return &t.speakers[i]
		}
	}
	s := speaker{name: name}
	for _, term := range t.v.r.an.Sequence(t.v.ctx, name.Value()) {
		if !slices.ContainsFunc(t.p.Words, func(w Term) bool { return w.Term == term }) {
			continue
		}
		if s.weights == nil {
			s.weights = slices.Repeat([]float64{1}, len(t.scores.Terms))
		}
		if k, ok := slices.BinarySearch(t.scores.Terms, term); ok {
			s.weights[k] = weightSpeaker
		}
	}
	t.speakers = append(t.speakers, s)
	return &t.speakers[len(t.speakers)-1]
}

// tellsWhen reports whether a turn tells a time.
func (t *dialogue) tellsWhen(n *candidate) bool {
	when := n.turn.when.Load()
	if when == whenUnknown {
		when = whenNot
		if it := t.v.item(n.id); it != nil {
			it.Text(&t.v.text)
			if t.v.r.an.TellsWhen(t.v.text.Content) {
				when = whenSaid
			}
		}
		n.turn.when.Store(when)
	}
	return when == whenSaid
}
