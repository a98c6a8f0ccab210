// This file holds recall: the index over a store, how it is kept up with it,
// and what a query finds.

package oxbow

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// shelf is an index and the entries it ranks. Memory.mu guards it.
type shelf struct {
	index *bm25.Index
	docs  map[uint64]*Entry
}

func newShelf() *shelf {
	return &shelf{index: bm25.New(bm25.Params{}), docs: map[uint64]*Entry{}}
}

func (s *shelf) set(d Delta) {
	if d.Entry == nil {
		s.index.Delete(d.ID)
		delete(s.docs, d.ID)
		return
	}
	s.index.Put(d.ID, d.Entry.Updated.UnixNano(), bm25.Words(entryTerms(d.Entry)))
	s.docs[d.ID] = d.Entry
}

// entryTerms is what an entry is found by: its name, content and aliases, as
// one bag of words.
func entryTerms(e *Entry) []string {
	terms := text.Crabtalk(e.Name)
	terms = append(terms, text.Crabtalk(e.Content)...)
	for _, a := range e.Aliases {
		terms = append(terms, text.Crabtalk(a)...)
	}
	return terms
}

// changed takes in what a store did. It must not wait for anybody who waits
// for the store.
func (m *Memory) changed(deltas []Delta, reset bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case reset:
		m.shelf, m.resets = nil, m.resets+1
	case m.shelf != nil:
		for _, d := range deltas {
			m.shelf.set(d)
		}
	case m.filling:
		m.pending = append(m.pending, deltas...)
	}
}

// fresh brings the index up to the store, filling it when there is none.
func (m *Memory) fresh(ctx context.Context) error {
	w, watched := m.store.(Watcher)
	if watched {
		if err := w.Refresh(ctx); err != nil {
			return err
		}
		m.mu.RLock()
		ok := m.shelf != nil
		m.mu.RUnlock()
		if ok {
			return nil
		}
	}
	m.fill.Lock()
	defer m.fill.Unlock()
	for {
		m.mu.Lock()
		if watched && m.shelf != nil {
			m.mu.Unlock()
			return nil
		}
		m.filling, m.pending = true, nil
		resets := m.resets
		m.mu.Unlock()

		s := newShelf()
		var err error
		for e, e2 := range m.store.Entries(ctx, Filter{}) {
			if err = e2; err != nil {
				break
			}
			s.set(Delta{ID: e.ID, Entry: &e})
		}
		m.mu.Lock()
		for _, d := range m.pending {
			s.set(d)
		}
		m.filling, m.pending = false, nil
		done := err == nil && resets == m.resets
		if done {
			m.shelf = s
		}
		m.mu.Unlock()
		if done || err != nil {
			return err
		}
	}
}

// Recall returns what the query finds, best first. Equal scores are ordered by
// newer version, then by lower ID. A query that finds nothing returns no hits
// and no error: [Memory.Diagnose] says why.
func (m *Memory) Recall(ctx context.Context, q Query) ([]Hit, error) {
	limit, err := checkLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.AsOf != 0 {
		return then(ctx, m, q, (*Memory).Recall)
	}
	if err := m.fresh(ctx); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.shelf
	if s == nil {
		return nil, fmt.Errorf("%w: it was replaced while being read", ErrBusy)
	}
	if strings.TrimSpace(q.Text) == "" {
		return s.newest(q.Filter, limit), nil
	}
	terms := text.Crabtalk(q.Text)
	found := s.index.Search(bm25.Query{Terms: bm25.Any(terms), Limit: limit, Allow: s.allow(q.Filter)})
	hits := make([]Hit, len(found))
	for i, h := range found {
		hits[i] = Hit{Entry: *s.docs[h.ID], Score: h.Score}
		if q.Explain {
			hits[i].Explanation = s.explain(h.ID, terms)
		}
	}
	return hits, nil
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

// allow returns the test that the filter puts to a document, nil for none.
func (s *shelf) allow(f Filter) func(id uint64) bool {
	if f.IsZero() {
		return nil
	}
	return func(id uint64) bool {
		e := s.docs[id]
		return e != nil && f.Match(e)
	}
}

// newest returns what the filter selects, newest version first.
func (s *shelf) newest(f Filter, limit int) []Hit {
	var es []*Entry
	for _, e := range s.docs {
		if f.Match(e) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, func(a, b *Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	es = es[:min(limit, len(es))]
	hits := make([]Hit, len(es))
	for i, e := range es {
		hits[i] = Hit{Entry: *e}
	}
	return hits
}

func (s *shelf) explain(id uint64, terms []string) *Explanation {
	x, ok := s.index.Explain(id, bm25.Any(terms))
	if !ok {
		return nil
	}
	e := &Explanation{Formula: "bm25", Entries: x.N, Length: int(x.Len), AvgLen: x.AvgLen}
	for _, t := range x.Terms {
		e.Terms = append(e.Terms, TermScore{Term: t.Term, TF: int(t.TF), DF: t.DF, IDF: t.IDF, Score: t.Score})
	}
	return e
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
	if err := m.fresh(ctx); err != nil {
		return Diagnosis{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	s := m.shelf
	if s == nil {
		return Diagnosis{}, fmt.Errorf("%w: it was replaced while being read", ErrBusy)
	}
	d := Diagnosis{Entries: len(s.docs)}
	terms := text.Crabtalk(q.Text)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	d.StopWords = len(terms) == 0 && strings.TrimSpace(q.Text) != ""
	for _, t := range terms {
		d.Terms = append(d.Terms, TermCount{t, s.index.DF(t)})
	}
	d.Unfiltered = s.count(terms, q.Text, Filter{})
	for _, p := range q.Filter.Parts() {
		if left := s.count(terms, q.Text, p); left < d.Unfiltered || left == 0 {
			d.Removed = append(d.Removed, Removal{p.String(), left})
		}
	}
	d.Near = s.near(terms, q)
	return d, nil
}

// count returns how many entries the terms and the filter find.
func (s *shelf) count(terms []string, query string, f Filter) int {
	if len(terms) > 0 {
		return s.index.Count(bm25.Query{Terms: bm25.Any(terms), Allow: s.allow(f)})
	}
	n := 0
	if strings.TrimSpace(query) == "" {
		for _, e := range s.docs {
			if f.Match(e) {
				n++
			}
		}
	}
	return n
}

// near suggests what may have been meant.
func (s *shelf) near(terms []string, q Query) []string {
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
			for _, w := range text.Near(v, s.labelValues(t.Key), 2) {
				if w != v {
					add(Label{t.Key, w}.String())
				}
			}
		}
	}
	for _, t := range terms {
		if s.index.DF(t) == 0 {
			add(text.Near(t, keys(s.index.Terms()), 2)...)
		}
	}
	if words := strings.TrimSpace(q.Text); words != "" {
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

func (s *shelf) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, e := range s.docs {
			if !yield(e.Name) {
				return
			}
		}
	}
}

// labelValues yields the values that labels of that key have.
func (s *shelf) labelValues(key string) iter.Seq[string] {
	seen := map[string]bool{}
	for _, e := range s.docs {
		for _, v := range e.Values(key) {
			seen[v] = true
		}
	}
	return maps.Keys(seen)
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
