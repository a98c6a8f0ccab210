// What a memory searches: an index for each ranking that was asked for, and the
// entries of its documents.

package oxbow

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/index"
)

// searcher is the indexes of a memory. Queries read them without a lock;
// Memory.applying is held to change them.
type searcher struct {
	scorers atomic.Pointer[map[string]*scorer] // by ranking; a map is replaced, never changed
	saved   *savedIndex                        // what the memory's own ranking began from, nil for nothing; its entries are read on demand
	unsaved atomic.Int64                       // entries put or removed since

	mu  sync.Mutex // guards reading from saved, and the following
	err error      // why an entry could not be read: what was found counts for nothing
}

// indexed is an entry as data of a document.
type indexed struct {
	*Entry
	turn atomic.Pointer[turn] // nil until ranking asked for it
}

func newIndexed(e *Entry) *indexed { return &indexed{Entry: e} }

func newSearcher(ranking string) *searcher {
	s := &searcher{}
	s.scorers.Store(&map[string]*scorer{ranking: newScorer(ranking)})
	return s
}

func (s *searcher) scorer(ranking string) *scorer { return (*s.scorers.Load())[ranking] }

// begin makes the index of the file that of an empty searcher. Nothing else is
// read now.
func (s *searcher) begin(saved *savedIndex) {
	s.saved = saved
	s.scorer(saved.head.ranking).index = saved.index
}

// close closes the index file. What is read after that is an error.
func (s *searcher) close() {
	if s != nil && s.saved != nil {
		s.saved.close()
	}
}

// apply applies changes to all indexes, or to none when ctx is done before their
// entries are analyzed.
func (s *searcher) apply(ctx context.Context, ds []analyzedDelta) error {
	scorers := *s.scorers.Load()
	if err := analyzeAll(ctx, ds, slices.Collect(maps.Values(scorers))); err != nil {
		return err
	}
	changes := make([]index.Change, len(ds))
	data := make([]*indexed, len(ds))
	for i, d := range ds {
		if d.Entry != nil {
			data[i] = newIndexed(d.Entry)
		}
	}
	for _, r := range scorers {
		for i, d := range ds {
			if changes[i] = (index.Change{ID: d.ID}); d.Entry == nil {
				continue
			}
			doc := d.docs[r]
			doc.Data = data[i]
			changes[i].Document = &doc
		}
		r.index.Apply(changes...)
	}
	s.unsaved.Add(int64(len(ds)))
	return nil
}

// addScorer returns the index of another ranking, which it makes when there is
// none.
func (m *Memory) addScorer(ctx context.Context, s *searcher, ranking string) (*scorer, error) {
	if err := m.applying.lock(ctx); err != nil {
		return nil, err
	}
	defer m.applying.unlock()
	if r := s.scorer(ranking); r != nil {
		return r, nil
	}
	var v *rankedView
	for _, r := range *s.scorers.Load() {
		v = s.view(r)
	}
	r := newScorer(ranking)
	r.index.Fill(func(yield func(*index.Document) bool) {
		var doc index.Document
		var words []string
		for _, id := range v.ids() {
			if ctx.Err() != nil {
				return
			}
			if e := v.entry(id); e != nil {
				r.analyze(ctx, e.Entry, &doc, &words)
				if doc.Data = e; !yield(&doc) {
					return
				}
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	scorers := maps.Clone(*s.scorers.Load())
	scorers[ranking] = r
	s.scorers.Store(&scorers)
	return r, nil
}

// rankedView is a searcher between two changes, for one query.
type rankedView struct {
	*searcher
	ctx   context.Context // of the query
	r     *scorer
	x     *index.Searcher
	stats termStats // of x

	last      *indexed // the entry that phrases were looked for in
	lastWords []fieldWords
}

// termStats is what a plan asks of an index.
type termStats interface {
	DF(term string) int
	IDs(term string) []uint64
	Terms(prefix string) iter.Seq2[string, int]
}

// view returns the searcher as it is now, for queries of one ranking.
func (s *searcher) view(r *scorer) *rankedView {
	x := r.index.Searcher()
	return &rankedView{searcher: s, ctx: context.Background(), r: r, x: x, stats: x}
}

// with returns the view for a query that ends early when ctx is done. What it
// says after that is of no use.
func (v *rankedView) with(ctx context.Context) *rankedView {
	w := *v
	w.ctx = ctx
	return &w
}

// entry returns the entry of that ID, nil when there is none.
func (v *rankedView) entry(id uint64) *indexed {
	e, _ := v.x.Data(id, nil).(*indexed)
	if e == nil && v.saved != nil {
		e, _ = v.x.Data(id, func() any { return v.read(id) }).(*indexed)
	}
	return e
}

// found returns the entry of a hit, nil when it cannot be read.
func (v *rankedView) found(h index.Hit) *indexed {
	if e, ok := h.Data.(*indexed); ok {
		return e
	}
	return v.entry(h.ID)
}

// read reads an entry that the index file has.
func (v *rankedView) read(id uint64) any {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, found := v.saved.rows.find(id)
	if !found {
		return nil
	}
	e, err := v.saved.db.entryByID(id)
	switch {
	case err != nil:
		v.err = err
	case e != nil && e.Version >= v.saved.rows.version(i):
		return newIndexed(e)
	}
	return nil
}

// name returns the name of an entry.
func (v *rankedView) name(id uint64) string {
	if e := v.entry(id); e != nil {
		return e.Name
	}
	return ""
}

// newer compares two entries by the time of their versions, the newer first.
func (v *rankedView) newer(a, b index.Hit) int {
	ea, eb := v.found(a), v.found(b)
	if ea == nil || eb == nil {
		return 0
	}
	return eb.Updated.Compare(ea.Updated)
}

// failed returns why the index or an entry could not be read.
func (v *rankedView) failed() error {
	if err := v.x.Err(); err != nil || v.saved == nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// ids returns the IDs of the entries, rising.
func (v *rankedView) ids() []uint64 {
	ids := make([]uint64, 0, v.x.Size())
	for id := range v.x.Documents() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// versions returns the IDs of the entries, rising, and their versions.
func (v *rankedView) versions() (ids, versions []uint64) {
	ids = v.ids()
	versions = make([]uint64, len(ids))
	for i, id := range ids {
		if e, ok := v.x.Data(id, nil).(*indexed); ok {
			versions[i] = e.Version
		} else if j, found := v.saved.rows.find(id); found {
			versions[i] = v.saved.rows.version(j)
		}
	}
	return ids, versions
}

// accept returns the test that the filter puts to a document, nil for none.
func (v *rankedView) accept(f Filter) func(id uint64) bool {
	if f.IsZero() {
		return nil
	}
	return func(id uint64) bool {
		if v.ctx.Err() != nil {
			return false
		}
		e := v.entry(id)
		return e != nil && f.Match(e.Entry)
	}
}

// needsAll says that a scan does not do when a plan needs entries that a scan for
// RankSeed leaves out.
func (v *rankedView) needsAll(p *plan) {
	if s, ok := v.stats.(*scanStats); ok && p.seed {
		s.missed.Store(true)
	}
}

// newest returns what the plan selects, newest version first.
func (v *rankedView) newest(p *plan, limit int) []Hit {
	v.needsAll(p)
	var hits []Hit
	for _, id := range v.x.Newest(p.selection(limit)) {
		if e := v.entry(id); e != nil { // else it could not be read
			hits = append(hits, Hit{Entry: *e.Entry})
		}
	}
	return hits
}

func (v *rankedView) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range v.x.Documents() {
			if e := v.entry(id); v.ctx.Err() != nil || e != nil && !yield(e.Name) {
				return
			}
		}
	}
}
