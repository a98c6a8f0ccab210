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
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// glanceFrom is the bytes of text from which on a glance is worth it: to index
// less takes less than a tenth of a second, and is of use later.
const glanceFrom = 2 << 20

// glance is entries and an index of the terms of one question.
type glance struct {
	shelf   *shelf
	ranking *ranking
	told    int // news.told before it
}

// glance returns a glance for the query, nil when there is another way or
// another glance was before: then the memory is asked often. The caller holds
// m.fill, and found no index file.
func (m *Memory) glance(ctx context.Context, q Query) (*glance, error) {
	m.mu.RLock()
	had := m.hadGlance
	m.mu.RUnlock()
	d, ok := m.store.(*db)
	if !m.opts.Lazy || had || ok && d.glances() >= mostGlances {
		return nil, nil
	}
	r := newRanking(m.rankOf(q))
	choice := r.asks(q)
	if choice == nil {
		return nil, nil
	}
	es, changes, err := m.glanceEntries(ctx)
	if es == nil || err != nil {
		return nil, err
	}
	g, err := lookAt(ctx, es, r, choice)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hadGlance = true
	if _, watched := m.store.(Watcher); watched {
		g.told = changes
		m.glanced = g
	}
	return g, nil
}

// lastGlance returns the glance for the next question, nil when there is none
// or something has changed since. m.mu is held.
func (m *Memory) lastGlance() *glance {
	if g := m.glanced; g != nil && g.told == m.news.count() {
		return g
	}
	return nil
}

// does reports whether there is a glance, and it may do for the query.
func (g *glance) does(m *Memory, q *Query) bool {
	return g != nil && q != nil && g.ranking.name == m.rankOf(*q)
}

// glanceEntries returns the entries, in order of ID, nil when they are few; and
// the changes that had been told before.
func (m *Memory) glanceEntries(ctx context.Context) (es []*Entry, changes int, err error) {
	if w, ok := m.store.(Watcher); ok {
		if err := w.Refresh(ctx); err != nil {
			return nil, 0, err
		}
	}
	changes = m.news.count()
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, 0, err
		}
		es = append(es, &e)
	}
	size := 0
	for _, e := range es {
		if size += len(e.Content); size >= m.glanceFrom {
			return es, changes, nil
		}
	}
	return nil, 0, nil
}

// asks returns the terms that a query may ask an index about, and what explains
// that it finds nothing: the values of the labels that it names. It is nil for
// all that there are.
func (r *ranking) asks(q Query) *bm25.Choice {
	plain := &ranking{name: r.name, index: bm25.NewPart(paramsOf(r.name), bm25.NewChoice(nil, nil), 0), an: r.an}
	p := plain.plan(newShelf(), q)
	terms, prefixes := plain.index.Lacks()
	for _, t := range p.terms {
		terms = append(terms, t.Text)
	}
	for _, c := range p.where {
		terms = append(terms, c.Terms...)
	}
	for _, t := range q.Filter.Terms {
		prefixes = append(prefixes, mark(t.Key, ""))
	}
	if slices.Contains(prefixes, "") {
		return nil
	}
	return bm25.NewChoice(terms, prefixes)
}

// glanceBatch is the entries that are looked at without asking whether somebody
// still wants to know.
const glanceBatch = 512

// lookAt makes a glance of the entries.
func lookAt(ctx context.Context, es []*Entry, r *ranking, choice *bm25.Choice) (*glance, error) {
	batches := make([]seen, (len(es)+glanceBatch-1)/glanceBatch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			l := newLooker(r.name, choice)
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
	r.index = bm25.NewPart(paramsOf(r.name), choice, len(es))
	s := newShelf()
	s.rankings[r.name], s.docs = r, make(map[uint64]*Entry, len(es))
	bulk := bm25.NewBulk(r.index)
	for i := range batches {
		terms := batches[i].terms
		for j, d := range batches[i].docs {
			e := es[i*glanceBatch+j]
			s.docs[e.ID] = e
			if d.counts {
				bulk.Add(e.ID, e.Updated.UnixNano(), bm25.Doc{Terms: terms[:d.terms], Len: d.len, Time: stamp(e.Created)})
			}
			terms = terms[d.terms:]
		}
	}
	bulk.Done()
	return &glance{shelf: s, ranking: r}, nil
}

// seen is what a batch of entries has of the terms.
type seen struct {
	docs  []seenDoc
	terms []bm25.Term // of all of them, one after another
}

type seenDoc struct {
	len    uint32
	terms  int  // how many
	counts bool // the index has it, if it has none of these
}

// looker looks for terms in entries, as [ranking.cut] cuts them. It is for one
// goroutine.
type looker struct {
	choice *bm25.Choice
	find   *analysis.Finder // nil for RankSeed
	dates  bool             // a term may be one of an entry's date
	marks  bool             // or a mark
	doc    bm25.Doc
	fields []analysis.Field
	words  []string
}

func newLooker(ranking string, c *bm25.Choice) *looker {
	l := &looker{choice: c}
	for _, t := range slices.Concat(c.Terms(), c.Prefixes()) {
		l.marks = l.marks || isMark(t)
		date, ok := strings.CutPrefix(t, datePrefix)
		if ok && ranking != RankSeed { // "date:harbor" is asked for of every word
			l.dates = l.dates || slices.Contains(monthTerms[:], t) || date == "" || date[0] >= '0' && date[0] <= '9'
		}
	}
	if ranking != RankSeed {
		l.find = analysis.NewFinder(c)
	}
	return l
}

func (l *looker) look(es []*Entry, to *seen) {
	to.docs = make([]seenDoc, len(es))
	for i, e := range es {
		counts := l.set(e)
		to.docs[i] = seenDoc{l.doc.Len, len(l.doc.Terms), counts}
		to.terms = append(to.terms, l.doc.Terms...)
	}
}

// set makes doc of an entry. It reports whether the entry counts.
func (l *looker) set(e *Entry) (counts bool) {
	if l.find == nil {
		if !l.seed(e) {
			return false
		}
	} else {
		l.fields = appendFields(l.fields[:0], e)
		l.find.SetDoc(&l.doc, l.fields)
	}
	if l.dates {
		l.add(dateTerms(e.Created), weightDate)
	}
	if l.marks {
		l.add(marks(e), 1)
	}
	return true
}

// add adds those of some terms to doc that are looked for.
func (l *looker) add(terms []string, tf uint16) {
	for _, t := range terms {
		if l.choice.Has(t) {
			l.doc.Terms = append(l.doc.Terms, bm25.Term{Text: t, TF: tf})
		}
	}
}

// seed makes doc of the words of an entry for RankSeed. It reports whether there
// are any.
func (l *looker) seed(e *Entry) bool {
	ws := text.AppendCrabtalk(l.words[:0], e.Content)
	for _, a := range e.Aliases {
		ws = text.AppendCrabtalk(ws, a)
	}
	l.words = ws
	l.doc.Terms, l.doc.Len = l.doc.Terms[:0], bm25.One*uint32(len(ws))
	l.add(ws, bm25.One)
	return len(ws) > 0
}
