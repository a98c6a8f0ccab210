// Views: what a scorer finds for one query.

package ranking

import (
	"context"
	"iter"
	"strings"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// View is a scorer between two changes, for one query and one goroutine.
type View struct {
	ctx   context.Context // of the query
	r     *Scorer
	x     *index.Searcher
	stats termStats // of x
	read  func(id uint64) Item

	text       Text // scratch
	last       Item // that phrases were looked for in
	lastFields []field
}

// termStats is what a plan needs of an index.
type termStats interface {
	DF(term string) int
	IDs(term string) []uint64
	Terms(prefix string) iter.Seq2[string, int]
}

// View returns the scorer as it is now. What it returns after ctx is done is of
// no use. The items of documents without Data are read by read, which returns nil
// for one that cannot be read; a nil read is for an index that has all.
func (r *Scorer) View(ctx context.Context, read func(id uint64) Item) *View {
	x := r.index.Searcher()
	return &View{ctx: ctx, r: r, x: x, stats: x, read: read}
}

// With returns the view for another query.
func (v *View) With(ctx context.Context) *View {
	w := *v
	w.ctx = ctx
	return &w
}

// Ranking returns the name of the ranking.
func (v *View) Ranking() string { return v.r.name }

// Searcher returns the index's.
func (v *View) Searcher() *index.Searcher { return v.x }

// DF returns how many documents hold a term.
func (v *View) DF(term string) int { return v.stats.DF(term) }

// Known returns how many documents hold a word of a plan, and what its term counts. For a
// word that was corrected both are those of the word as it was written.
func (v *View) Known(w Term) (df int, idf float64) {
	if !w.Corrected {
		df = v.stats.DF(w.Term)
	}
	var prior index.Prior
	if v.r.an != nil && !w.Corrected {
		prior = priorOf(w.Term)
	} else if v.r.an != nil {
		prior.N = priorTexts
	}
	return df, v.x.IDF(df, prior)
}

// Item returns the item of a document, nil when there is none, or when it cannot
// be read.
func (v *View) Item(id uint64) any { return v.item(id) }

func (v *View) item(id uint64) Item {
	data, ok := v.x.Data(id)
	it, _ := data.(Item)
	if it == nil && ok && v.read != nil {
		it = v.read(id)
	}
	return it
}

// found returns the item of a hit, which keeps it, nil when it cannot be read.
func (v *View) found(h *index.Hit) Item {
	it, ok := h.Data.(Item)
	if !ok {
		it = v.item(h.ID)
		if it != nil {
			h.Data = it
		}
	}
	return it
}

// fields returns the fields that an item is found by.
func (v *View) fields(it Item) []analysis.Field {
	it.Text(&v.text)
	return appendFields(nil, &v.text)
}

// newer compares two hits by the time of their versions, the newer first.
func (v *View) newer(a, b index.Hit) int {
	ia, ib := v.found(&a), v.found(&b)
	if ia == nil || ib == nil {
		return 0
	}
	ia.Text(&v.text)
	updated := v.text.Updated
	ib.Text(&v.text)
	return v.text.Updated.Compare(updated)
}

// name returns the name of an item.
func (v *View) name(id uint64) string {
	it := v.item(id)
	if it == nil {
		return ""
	}
	it.Text(&v.text)
	return v.text.Name
}

// turnOf returns what an item, nil for one that could not be read, says as a turn.
func (v *View) turnOf(it Item) *turn {
	if it == nil {
		return noTurn
	}
	kept := &it.Kept().turn
	if t := kept.Load(); t != nil {
		return t
	}
	x := &v.text
	it.Text(x)
	kind := analysis.SpeechOf(x.Content)
	t := noTurns[kind]
	if kind == analysis.TurnOfTalk {
		t = &turn{kind: kind, asks: analysis.Asks(x.Content), created: timestamp(x.Created), session: unique.Make(x.Session), speaker: unique.Make(analysis.Speaker(x.Content))}
	}
	kept.CompareAndSwap(nil, t)
	return kept.Load()
}

// Around returns the turns at most so many IDs from a turn of a talk, in the order
// of the talk, without those that accept, if not nil, rejects. What is no such
// turn has none.
func (v *View) Around(id uint64, reach int, accept func(id uint64) bool) (before, after []Item) {
	own := v.turnOf(v.item(id))
	if own.kind != analysis.TurnOfTalk {
		return nil, nil
	}
	for step := -reach; step <= reach; step++ {
		at := id + uint64(int64(step))
		it := v.item(at)
		switch {
		case step == 0 || it == nil || !v.turnOf(it).next(own) || (accept != nil && !accept(at)):
		case step < 0:
			before = append(before, it)
		default:
			after = append(after, it)
		}
	}
	return before, after
}

// Vocabulary yields the words that begin so, and in how many documents each
// stands.
func (v *View) Vocabulary(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for t, df := range v.stats.Terms(prefix) {
			if !isKeyword(t) && !strings.HasPrefix(t, datePrefix) && !yield(t, df) {
				return
			}
		}
	}
}

// Values yields the values that documents have under a key.
func (v *View) Values(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		prefix := Keyword(key, "")
		for t := range v.stats.Terms(prefix) {
			if !yield(t[len(prefix):]) {
				return
			}
		}
	}
}

// positions returns the words of an item's fields. Those of the last item are
// kept: all phrases of a query are looked for in one before the next.
func (v *View) positions(it Item) []field {
	if v.last != it {
		v.last, v.lastFields = it, v.lastFields[:0]
		for _, f := range v.fields(it) {
			w := field{v.r.an.Sequence(v.ctx, f.Text), map[string][]int{}}
			for i, word := range w.words {
				w.at[word] = append(w.at[word], i)
			}
			v.lastFields = append(v.lastFields, w)
		}
	}
	return v.lastFields
}
