// This file holds recall: what a query finds, and why it finds nothing.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// Recall returns what the query finds, best first. Equal scores are ordered by
// newer version, then by lower ID. A query that finds nothing returns no hits
// and no error: [Memory.Diagnose] says why.
func (m *Memory) Recall(ctx context.Context, q Query) ([]Hit, error) {
	limit, err := checkLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if err := checkRecency(&q, m.opts.Clock); err != nil {
		return nil, err
	}
	if q.AsOf != 0 {
		return then(ctx, m, q, (*Memory).Recall)
	}
	most := limit
	if q.Collapse {
		most = min(collapsePool*limit, MaxLimit)
	}
	return ask(ctx, m, q, func(s *shelf, r *ranking) []Hit {
		p := r.plan(s, q)
		var hits []Hit
		if p.any {
			hits = s.newest(r, p, most)
		} else {
			hits = r.search(s, p, most)
		}
		if q.Collapse {
			hits = collapse(hits, limit)
		}
		if p.any {
			return hits
		}
		if q.Explain {
			for i := range hits {
				hits[i].Explanation = r.explain(s, p, hits[i].Entry.ID)
			}
		}
		return hits
	})
}

// ask returns what fn, which asks the query, makes of the shelf and the ranking.
// When the index file turns out to be damaged meanwhile, or a glance does not do,
// the index is made anew, and fn asked again.
func ask[T any](ctx context.Context, m *Memory, q Query, fn func(s *shelf, r *ranking) T) (T, error) {
	for {
		s, r, unlock, err := m.shelved(ctx, q)
		if err != nil {
			var none T
			return none, err
		}
		v := fn(s, r)
		err = errors.Join(r.index.Err(), s.failed())
		unlock()
		if err == nil {
			return v, nil
		}
		m.mu.Lock()
		switch {
		case errors.Is(err, bm25.ErrPart):
			if m.glanced != nil && m.glanced.shelf == s {
				m.glanced = nil
			}
		case m.shelf == s:
			m.putShelf(nil)
			fallthrough
		default:
			m.distrust = true
		}
		m.mu.Unlock()
	}
}

// rankOf returns the name of the ranking that a query asks.
func (m *Memory) rankOf(q Query) string { return cmp.Or(q.Rank, m.opts.Ranking) }

// shelved returns the shelf, fresh, and the ranking of the query on it, locked
// for reading until unlock is called. A ranking that nobody asked for yet is
// made, which takes as long as filling the shelf did. It may be those of a
// glance: asked more than the query, that has [bm25.ErrPart].
func (m *Memory) shelved(ctx context.Context, q Query) (s *shelf, r *ranking, unlock func(), err error) {
	rank := m.rankOf(q)
	if err := checkRanking(rank); err != nil {
		return nil, nil, nil, err
	}
	for {
		g, err := m.freshFor(ctx, &q)
		switch {
		case err != nil:
			return nil, nil, nil, err
		case g.does(m, &q):
			return g.shelf, g.ranking, func() {}, nil
		}
		rlockSoon(&m.mu)
		if s = m.shelf; s != nil && s.rankings[rank] == nil {
			m.mu.RUnlock()
			m.addRanking(rank)
			m.mu.RLock()
		}
		if s = m.shelf; s != nil && s.rankings[rank] != nil {
			return s, s.rankings[rank], m.mu.RUnlock, nil
		}
		m.mu.RUnlock() // somebody let go of that shelf meanwhile, or made another
	}
}

// addRanking makes a ranking on the shelf, if it has none of that name.
func (m *Memory) addRanking(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.shelf
	if s == nil || s.rankings[name] != nil {
		return
	}
	r := newRanking(name)
	for _, id := range s.ids() {
		if e := s.doc(id); e != nil {
			r.put(e)
		}
	}
	s.rankings[name] = r
}

// then asks the memory as it stood after the change q.AsOf.
func then[T any](ctx context.Context, m *Memory, q Query, ask func(*Memory, context.Context, Query) (T, error)) (T, error) {
	view, err := m.AsOf(ctx, q.AsOf)
	if err != nil {
		var none T
		return none, err
	}
	defer view.Close()
	q.AsOf = 0
	return ask(newMemory(view, m.opts), ctx, q)
}

func checkLimit(n int) (int, error) {
	switch {
	case n < 0:
		return 0, &InvalidError{Field: "limit", Value: fmt.Sprint(n), Reason: fmt.Sprintf("is less than 1; the most is %d", MaxLimit)}
	case n == 0:
		return DefaultLimit, nil
	}
	return min(n, MaxLimit), nil
}

// maxNear is the most suggestions a [Diagnosis] makes.
const maxNear = 5

// Diagnose says why a query finds nothing, or little: which of its words no
// entry holds, which condition of the filter removes what it finds, and what
// names, projects, tags and words are near to what was written.
func (m *Memory) Diagnose(ctx context.Context, q Query) (Diagnosis, error) {
	if q.AsOf != 0 {
		return then(ctx, m, q, (*Memory).Diagnose)
	}
	return ask(ctx, m, q, func(s *shelf, r *ranking) Diagnosis { return s.diagnose(r, q) })
}

func (s *shelf) diagnose(r *ranking, q Query) Diagnosis {
	p := r.plan(s, Query{Text: q.Text, Operators: q.Operators, Dates: q.Dates})
	d := Diagnosis{Entries: s.len()}
	for _, w := range p.words {
		c := TermCount{w.word, 0}
		if !w.instead {
			c.DF = r.index.DF(w.term)
		}
		d.Terms = append(d.Terms, c)
	}
	slices.SortFunc(d.Terms, func(a, b TermCount) int { return strings.Compare(a.Term, b.Term) })
	d.StopWords = len(p.terms) == 0 && !p.any
	d.Unfiltered = s.count(r, p, bm25.Query{}, nil)
	removes := func(what string, only bm25.Query, allow func(id uint64) bool) {
		if left := s.count(r, p, only, allow); left < d.Unfiltered || left == 0 {
			d.Removed = append(d.Removed, FilterEffect{what, left})
		}
	}
	for _, f := range q.Filter.Parts() {
		only, more := bm25.Query{}, false
		if only.Where, only.Times, more = r.where(f); more {
			only.Allow = s.allow(f)
		}
		removes(f.String(), only, s.allow(f))
	}
	for _, c := range p.conditions {
		removes(c.text, bm25.Query{Where: c.where, Allow: c.allow}, c.allow)
	}
	d.Near = s.near(r, p, q, d.Unfiltered == 0)
	return d
}

// count returns how many entries the words of the plan find, of those that meet
// the conditions of a query alone, which are those that allow, nil for all,
// selects.
func (s *shelf) count(r *ranking, p *plan, only bm25.Query, allow func(id uint64) bool) int {
	if !p.any {
		only.Terms = p.terms
		return r.index.Count(only)
	}
	if r.an != nil { // the index has them all
		only.Limit = math.MaxInt
		return len(r.index.Newest(only))
	}
	n := 0
	for _, id := range s.ids() {
		if allow == nil || allow(id) {
			n++
		}
	}
	return n
}

// near suggests what may have been meant. Names are looked at, which reads all
// entries, when the words find nothing.
func (s *shelf) near(r *ranking, p *plan, q Query, nothing bool) []string {
	var near []string
	add := func(ws ...string) {
		for _, w := range ws {
			if !slices.Contains(near, w) {
				near = append(near, w)
			}
		}
	}
	for _, t := range q.Filter.Terms {
		for _, v := range t.Values {
			for _, w := range text.Near(v, r.marked(t.Key), 2) {
				if w != v {
					add(Label{t.Key, w}.String())
				}
			}
		}
	}
	for _, w := range p.words {
		if r.index.DF(w.term) == 0 {
			add(text.Near(w.term, keys(r.words("")), 2)...)
		}
	}
	if words := strings.TrimSpace(q.Text); words != "" && nothing {
		add(text.Near(words, s.names(), 3)...)
	}
	return near[:min(len(near), maxNear)]
}

func keys(seq iter.Seq2[string, int]) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range seq {
			if !yield(k) {
				return
			}
		}
	}
}

// Near returns names of entries near to a name that is not there, best first,
// at most max.
func (m *Memory) Near(ctx context.Context, name string, max int) ([]string, error) {
	if err := m.fresh(ctx); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.shelf == nil {
		return nil, nil
	}
	return text.Near(name, m.shelf.names(), max), nil
}
