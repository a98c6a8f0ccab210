// Scans: the first answer of a memory that has no index yet.
//
// To index 100,000 entries takes seconds. One question needs a handful of terms,
// and planning it over an index that only writes down what it is asked says
// which. All entries are then scanned once for those alone, and an index of what
// is found answers the question as the whole index does, to the last bit: the
// lengths of the documents are those of all their words. BenchmarkScan says what
// is lost without it.

package oxbow

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// scanFrom is the bytes of text from which on a scan is worth it: to index less
// takes less than a tenth of a second, and is of use later.
const scanFrom = 2 << 20

// scanned is the index that a scan made.
type scanned struct {
	view     *rankedView
	received int64 // pending.received before it
}

// scanStats writes down what it is asked about outside of a choice of terms.
type scanStats struct {
	x      *index.Searcher
	choice *analysis.Choice
	missed atomic.Bool

	terms, prefixes []string // that were missed, while planning alone: nil choice
}

func (s *scanStats) miss(term string, prefix bool) {
	s.missed.Store(true)
	switch {
	case s.choice != nil:
	case prefix:
		s.prefixes = append(s.prefixes, term)
	default:
		s.terms = append(s.terms, term)
	}
}

// DF implements termStats.
func (s *scanStats) DF(term string) int {
	if s.choice == nil || !s.choice.Has(term) {
		s.miss(term, false)
	}
	return s.x.DF(term)
}

// IDs implements termStats.
func (s *scanStats) IDs(term string) []uint64 {
	if s.choice == nil || !s.choice.Has(term) {
		s.miss(term, false)
	}
	return s.x.IDs(term)
}

// Terms implements termStats.
func (s *scanStats) Terms(prefix string) iter.Seq2[string, int] {
	if s.choice == nil || !s.choice.HasAll(prefix) {
		s.miss(prefix, true)
	}
	return s.x.Terms(prefix)
}

// scan returns a view for the query by one scan of the entries, nil when there is
// an index, when there was a scan before, or when the store's directory shows
// that another process scanned: then the memory is asked often.
func (m *Memory) scan(ctx context.Context, q Query, rank string) (*rankedView, error) {
	if m.searcher.Load() != nil {
		return nil, nil
	}
	watched, err := m.refreshStore(ctx)
	if err == nil {
		err = m.buildMu.lock(ctx)
	}
	if err != nil {
		return nil, err
	}
	defer m.buildMu.unlock()
	if m.searcher.Load() != nil {
		return nil, nil
	}
	if last := m.scanned.Load(); last != nil && last.received == m.pending.received.Load() && last.view.r.name == rank {
		return last.view, nil
	}
	if d, ok := m.store.(*db); m.hadScan || ok && d.hasIndexFile() {
		return nil, nil
	}
	v, received, err := m.scanStore(ctx, q, rank)
	if v == nil || err != nil {
		return nil, err
	}
	m.hadScan = true
	if watched {
		m.scanned.Store(&scanned{v, received})
	}
	return v, nil
}

// scanStore scans all entries, nil when they are few or the query needs all terms.
// It returns how often changes had come before.
func (m *Memory) scanStore(ctx context.Context, q Query, rank string) (v *rankedView, received int64, err error) {
	choice := askedBy(q, rank)
	if choice == nil {
		return nil, 0, nil
	}
	es, received, err := m.scanEntries(ctx)
	if es == nil || err != nil {
		return nil, 0, err
	}
	v, err = scanEntries(ctx, es, rank, choice)
	return v, received, err
}

// hasIndexFile reports whether there is a file in the place of the index file,
// of whatever form: an empty one says that another process scanned.
func (d *db) hasIndexFile() bool {
	_, err := d.fs.Stat(d.indexName())
	return err == nil
}

// noteScan leaves an empty index file, unless there is one of any form: the next
// process builds the index.
func (d *db) noteScan() error {
	return d.withoutWriters(func() error {
		if d.hasIndexFile() {
			return nil
		}
		return vfs.WriteDerived(d.fs, d.indexName(), 0o600)
	})
}

// scanEntries returns the entries, in order of ID, nil when they are few; and
// how often changes had come before.
func (m *Memory) scanEntries(ctx context.Context) (es []*Entry, received int64, err error) {
	received = m.pending.received.Load()
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, 0, err
		}
		es = append(es, &e)
	}
	size := 0
	for _, e := range es {
		if size += len(e.Content); size >= m.scanFrom {
			return es, received, nil
		}
	}
	return nil, 0, nil
}

// askedBy returns the terms that a query may ask an index about, and what explains
// that it finds nothing: the values of the labels that it names. It is nil for
// all that there are.
func askedBy(q Query, rank string) *analysis.Choice {
	v := newSearcher(rank).view(newScorer(rank))
	asked := &scanStats{x: v.x}
	v.stats = asked
	p := v.plan(q)
	terms, prefixes := asked.terms, asked.prefixes
	for _, t := range p.terms {
		terms = append(terms, t.Text)
	}
	for _, c := range p.filter {
		terms = append(terms, c.Terms...)
	}
	for _, t := range q.Filter.Terms {
		prefixes = append(prefixes, keyword(t.Key, ""))
	}
	if slices.Contains(prefixes, "") {
		return nil
	}
	return analysis.NewChoice(terms, prefixes)
}

// scanBatch is the entries that are scanned between two looks at the context.
const scanBatch = 512

// scanEntries returns a view of an index of those terms alone.
func scanEntries(ctx context.Context, es []*Entry, rank string, choice *analysis.Choice) (*rankedView, error) {
	batches := make([][]index.Document, (len(es)+scanBatch-1)/scanBatch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			sc := newScanner(rank, choice)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batches) {
					return
				}
				batches[i] = sc.scan(ctx, es[i*scanBatch:min((i+1)*scanBatch, len(es))])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := newScorer(rank)
	p := paramsOf(rank)
	p.CountEmpty = true // what has none of the terms has others
	r.index = index.New(p)
	r.index.Fill(func(yield func(*index.Document) bool) {
		for _, docs := range batches {
			for i := range docs {
				yield(&docs[i])
			}
		}
	})
	s := newSearcher(rank)
	v := s.view(r)
	v.stats = &scanStats{x: v.x, choice: choice}
	return v, nil
}

// scanner looks for terms in entries, as [scorer.analyze] makes them. It is for
// one goroutine.
type scanner struct {
	choice   *analysis.Choice
	find     *analysis.Finder // nil for RankSeed
	dates    bool             // a term may be one of an entry's date
	keywords bool             // or a keyword
	fields   []analysis.Field
	words    []string
	terms    []index.Term // of many documents
}

func newScanner(rank string, c *analysis.Choice) *scanner {
	sc := &scanner{choice: c}
	for _, t := range slices.Concat(c.Terms(), c.Prefixes()) {
		sc.keywords = sc.keywords || isKeyword(t)
		date, ok := strings.CutPrefix(t, datePrefix)
		if ok && rank != RankSeed { // "date:harbor" is asked for of every word
			sc.dates = sc.dates || slices.Contains(monthTerms[:], t) || date == "" || date[0] >= '0' && date[0] <= '9'
		}
	}
	if rank != RankSeed {
		sc.find = analysis.NewFinder(c)
	}
	return sc
}

// scan returns the documents of entries, of the terms that are looked for.
// Those of RankSeed without words are left out: they do not count. When ctx is
// done it stops.
func (sc *scanner) scan(ctx context.Context, es []*Entry) []index.Document {
	docs := make([]index.Document, 0, len(es))
	for _, e := range es {
		if ctx.Err() != nil {
			break
		}
		d := index.Document{ID: e.ID, Updated: e.Updated.UnixNano(), Created: timestamp(e.Created), Data: newIndexed(e)}
		from := len(sc.terms)
		if d.Terms = sc.terms[from:]; sc.find == nil {
			if !sc.seed(e, &d) {
				continue
			}
		} else {
			sc.fields = appendFields(sc.fields[:0], e)
			sc.find.SetDoc(ctx, &d, sc.fields)
		}
		if sc.dates {
			sc.add(&d, dateTerms(e.Created), weightDate)
		}
		if sc.keywords {
			sc.add(&d, keywords(e), 1)
		}
		d.Terms = slices.Clone(d.Terms)
		docs = append(docs, d)
	}
	return docs
}

// add adds those of some terms to d that are looked for.
func (sc *scanner) add(d *index.Document, terms []string, tf uint16) {
	for _, t := range terms {
		if sc.choice.Has(t) {
			d.Terms = append(d.Terms, index.Term{Text: t, TF: tf})
		}
	}
}

// seed sets d to the words of an entry for RankSeed. It reports whether there are
// any.
func (sc *scanner) seed(e *Entry, d *index.Document) bool {
	ws := text.AppendCrabtalk(sc.words[:0], e.Content)
	for _, a := range e.Aliases {
		ws = text.AppendCrabtalk(ws, a)
	}
	sc.words = ws
	d.Len = index.One * uint32(len(ws))
	sc.add(d, ws, index.One)
	return len(ws) > 0
}
