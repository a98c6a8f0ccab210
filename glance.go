// This file holds glances: the first answer of a memory that has no index yet.
//
// To index 100,000 entries takes seconds. One question needs a handful of terms,
// and which those are is known before: planning it on an index that knows
// nothing says which terms it asks about. All entries are then gone through once
// for those alone, and what comes of it answers the question as the whole index
// does, to the last bit. An index that is asked about any other term says so,
// and the whole one is made after all.

package oxbow

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/rank"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// glanceFrom is the bytes of text from which on a glance is worth it: to index
// less takes less than a tenth of a second, and is of use later.
const glanceFrom = 2 << 20

// glance is entries and an index of the terms of one question.
type glance struct {
	shelf   *shelf
	ranking *ranking
}

// glanceAt returns a glance for the query, nil when the memory has an index, can
// open one, or has glanced before at something else: then it is asked often.
func (m *Memory) glanceAt(ctx context.Context, q Query) (*glance, error) {
	if !m.opts.Lazy {
		return nil, nil
	}
	name := q.Rank
	if name == "" {
		name = m.opts.Ranking
	}
	if err := checkRanking(name); err != nil {
		return nil, err
	}
	if w, ok := m.store.(Watcher); ok {
		refresh := w.Refresh
		if d, ok := m.store.(*db); ok {
			refresh = d.refreshLazy
		}
		if err := refresh(ctx); err != nil {
			return nil, err
		}
	}
	m.fill.Lock()
	defer m.fill.Unlock()
	m.mu.RLock()
	g, had, indexed := m.glanced, m.hadGlance, m.shelf != nil
	m.mu.RUnlock()
	switch {
	case g != nil && g.ranking.name == name:
		return g, nil
	case had, indexed:
		return nil, nil
	}
	if saved := m.savedFor(m.opts.Ranking); saved != nil {
		saved.close()
		return nil, nil
	}
	if d, ok := m.store.(*db); ok && d.glances() >= mostGlances {
		return nil, nil
	}
	r := newRanking(name)
	terms, ok := r.asks(q)
	if !ok {
		return nil, nil
	}
	es, changes, err := m.glanceEntries(ctx)
	if es == nil || err != nil {
		return nil, err
	}
	if g, err = lookAt(ctx, es, r, terms); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hadGlance = true
	if _, told := m.store.(Watcher); told && changes == m.changes {
		m.glanced = g
	}
	return g, nil
}

// glanceEntries returns the entries, in order of ID, nil when they are few; and
// the changes that had been told before.
func (m *Memory) glanceEntries(ctx context.Context) (es []*Entry, changes int, err error) {
	told := func() int {
		m.mu.RLock()
		defer m.mu.RUnlock()
		return m.changes
	}
	if d, ok := m.store.(*db); ok {
		if err := d.Refresh(ctx); err != nil {
			return nil, 0, err
		}
		changes = told()
		d.mu.RLock()
		es = slices.Clone(d.st.order)
		d.mu.RUnlock()
	} else {
		changes = told()
		for e, err := range m.store.Entries(ctx, Filter{}) {
			if err != nil {
				return nil, 0, err
			}
			es = append(es, &e)
		}
	}
	size := 0
	for _, e := range es {
		if size += len(e.Content); size >= m.glanceFrom {
			return es, changes, nil
		}
	}
	return nil, 0, nil
}

// asks returns the terms that a query may ask an index about. It reports false
// when it may ask about all that there are.
func (r *ranking) asks(q Query) (terms []string, ok bool) {
	plain := &ranking{name: r.name, index: bm25.NewPart(paramsOf(r.name), nil, 0), an: r.an}
	p := plain.plan(newShelf(), q)
	terms, all := plain.index.Lacks()
	for _, t := range p.terms {
		terms = append(terms, t.Text)
	}
	return terms, !all
}

// glanceBatch is the entries that are looked at without asking whether somebody
// still wants to know.
const glanceBatch = 512

// lookAt makes a glance of the entries.
func lookAt(ctx context.Context, es []*Entry, r *ranking, terms []string) (*glance, error) {
	batches := make([]seen, (len(es)+glanceBatch-1)/glanceBatch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			l := newLooker(r.name, terms)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batches) {
					return
				}
				l.look(es[i*glanceBatch:min((i+1)*glanceBatch, len(es))], &batches[i])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.index = bm25.NewPart(paramsOf(r.name), terms, len(es))
	s := newShelf()
	s.rankings[r.name], s.docs = r, make(map[uint64]*Entry, len(es))
	bulk := bm25.NewBulk(r.index)
	for i := range batches {
		terms := batches[i].terms
		for j, d := range batches[i].docs {
			e := es[i*glanceBatch+j]
			s.docs[e.ID] = e
			if d.some {
				bulk.Add(e.ID, e.Updated.UnixNano(), bm25.Doc{Terms: terms[:d.terms], Len: d.len})
			}
			terms = terms[d.terms:]
		}
	}
	bulk.Done()
	return &glance{s, r}, nil
}

// seen is what a batch of entries has of the terms.
type seen struct {
	docs  []seenDoc
	terms []bm25.Term // of all of them, one after another
}

type seenDoc struct {
	len   uint32
	terms int  // how many
	some  bool // it has terms, if none of these
}

// looker looks for terms in entries, as [ranking.cut] cuts them. It is for one
// goroutine.
type looker struct {
	find   *rank.Finder    // nil for RankSeed
	terms  map[string]bool // for RankSeed
	dates  bool            // a term may be one of an entry's date
	doc    bm25.Doc
	fields []rank.Field
	words  []string
}

func newLooker(ranking string, terms []string) *looker {
	l := &looker{terms: make(map[string]bool, len(terms))}
	for _, t := range terms {
		l.terms[t] = true
	}
	if ranking == RankSeed {
		return l
	}
	l.find = rank.NewFinder(terms)
	l.dates = slices.ContainsFunc(terms, func(t string) bool {
		date, ok := strings.CutPrefix(t, datePrefix)
		return ok && (slices.Contains(monthTerms[:], t) || date != "" && date[0] >= '0' && date[0] <= '9')
	})
	return l
}

func (l *looker) look(es []*Entry, to *seen) {
	to.docs = make([]seenDoc, len(es))
	for i, e := range es {
		some := l.set(e)
		to.docs[i] = seenDoc{l.doc.Len, len(l.doc.Terms), some}
		to.terms = append(to.terms, l.doc.Terms...)
	}
}

// set makes doc of an entry. It reports whether the entry has any term at all.
func (l *looker) set(e *Entry) (some bool) {
	if l.find == nil {
		return l.seed(e)
	}
	l.fields = appendFields(l.fields[:0], e)
	if some = l.find.SetDoc(&l.doc, l.fields); some && l.dates {
		for _, t := range dateTerms(e.Created) {
			if l.terms[t] {
				l.doc.Terms = append(l.doc.Terms, bm25.Term{Text: t, TF: weightDate})
			}
		}
	}
	return some
}

// seed is set for RankSeed.
func (l *looker) seed(e *Entry) (some bool) {
	ws := text.AppendCrabtalk(l.words[:0], e.Content)
	for _, a := range e.Aliases {
		ws = text.AppendCrabtalk(ws, a)
	}
	l.words = ws
	l.doc.Terms, l.doc.Len = l.doc.Terms[:0], bm25.One*uint32(len(ws))
	for _, w := range ws {
		if l.terms[w] {
			l.doc.Terms = append(l.doc.Terms, bm25.Term{Text: w, TF: bm25.One})
		}
	}
	return len(ws) > 0
}

// first asks fn of a glance. It reports false when there is none, or when it
// does not do for the answer.
func first[T any](ctx context.Context, m *Memory, q Query, fn func(s *shelf, r *ranking) T) (v T, done bool, err error) {
	g, err := m.glanceAt(ctx, q)
	if g == nil || err != nil {
		return v, false, err
	}
	v = fn(g.shelf, g.ranking)
	if err := errors.Join(g.ranking.index.Err(), g.shelf.failed()); err == nil {
		return v, true, nil
	}
	m.mu.Lock()
	if m.glanced == g {
		m.glanced = nil
	}
	m.mu.Unlock()
	var none T
	return none, false, nil
}
