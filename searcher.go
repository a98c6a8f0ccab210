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
	"github.com/oxbow-memory/oxbow/internal/ranking"
)

// searcher is the indexes of a memory. Queries read them without a lock;
// Memory.applying is held to change them.
type searcher struct {
	scorers atomic.Pointer[map[string]*ranking.Scorer] // by ranking; a map is replaced, never changed
	saved   *savedIndex                                // what the memory's own ranking began from, nil for nothing; its entries are read on demand
	unsaved atomic.Int64                               // entries put or removed since, those of much text counted by it

	mu  sync.Mutex // guards reading from saved, and the following
	err error      // why an entry could not be read: what was found counts for nothing
}

func newSearcher(name string) *searcher {
	s := &searcher{}
	s.scorers.Store(&map[string]*ranking.Scorer{name: ranking.New(name, nil)})
	return s
}

func (s *searcher) scorer(name string) *ranking.Scorer { return (*s.scorers.Load())[name] }

// resume makes the index of the file that of an empty searcher, and applies what
// changed since. Nothing else is read now.
func (s *searcher) resume(ctx context.Context) error {
	h := &s.saved.head
	s.scorers.Store(&map[string]*ranking.Scorer{h.ranking: ranking.New(h.ranking, s.saved.index)})
	at := position{log: h.store, seq: h.seq, offset: h.at, chain: h.chain}
	var since []analyzedDelta
	thinAt := fewPending
	for d, err := range s.saved.db.Since(ctx, at.encode()) {
		if err != nil {
			return err
		}
		since = appendDeltas(since, []analyzedDelta{{Delta: d}}, &thinAt)
	}
	return s.apply(ctx, lastDeltas(since))
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
	olds := make(map[*ranking.Scorer][]*index.Document, len(scorers))
	for _, r := range scorers {
		var err error
		if olds[r], err = s.analyzeOld(ctx, r, ds); err != nil {
			return err
		}
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
			if changes[i] = (index.Change{ID: d.ID, Old: olds[r][i]}); d.Entry == nil {
				continue
			}
			doc := d.docs[r]
			doc.Data = data[i]
			changes[i].Document = &doc
		}
		r.Index().Apply(changes...)
	}
	for _, d := range ds {
		s.unsaved.Add(weight(d.Entry))
	}
	return nil
}

// manyOld is the part of an index's documents, as one in so many, from which on
// reading all postings takes less than reading the entries that the changed
// documents were made of.
const manyOld = 64

// analyzeOld returns, for each change, the document that the index has and the
// change removes; nil where it need not be known or is not found.
func (s *searcher) analyzeOld(ctx context.Context, r *ranking.Scorer, ds []analyzedDelta) ([]*index.Document, error) {
	olds := make([]*index.Document, len(ds))
	x := r.Index().Searcher()
	if len(ds) > max(fewPending, x.Size()/manyOld) {
		return olds, nil
	}
	var buf ranking.Buffer
	for i, d := range ds {
		if !x.NeedsOld(d.ID) {
			continue
		}
		if e := s.old(x, d.ID); e != nil {
			olds[i] = &index.Document{}
			r.Analyze(ctx, newIndexed(e), olds[i], &buf)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return olds, nil
}

// old returns the entry as a searcher has it, nil when it is not in the log.
func (s *searcher) old(x *index.Searcher, id uint64) *Entry {
	if it, ok := x.Put(id).(*indexed); ok {
		return it.entry
	}
	if s.saved == nil {
		return nil
	}
	i, found := s.saved.rows.find(id)
	if !found {
		return nil
	}
	return s.saved.db.entryAsOf(id, s.saved.rows.version(i), s.saved.rows.offset(i))
}

// applies reports whether changes can be applied in little time, and without
// the store, which may be locked.
func (s *searcher) applies(deltas []Delta) bool {
	bytes := 0
	for _, d := range deltas {
		if d.Entry != nil {
			bytes += len(d.Entry.Content)
		}
		for _, r := range *s.scorers.Load() {
			if x := r.Index().Searcher(); x.NeedsOld(d.ID) {
				it, ok := x.Put(d.ID).(*indexed)
				if !ok {
					return false
				}
				bytes += len(it.entry.Content)
			}
		}
	}
	return bytes <= 64<<10
}

// weight is how many entries one counts for that is analyzed again without an
// index file.
func weight(e *Entry) int64 {
	const text = 4096 // bytes of content that take as long as an entry
	if e == nil {
		return 1
	}
	return 1 + int64(len(e.Content)/text)
}

// fill puts entries, in order of ID, into an empty searcher, and leaves so many
// processors to what makes them as are busy. When ctx is done it ends early, with
// its error; the searcher is then of no use.
func (s *searcher) fill(ctx context.Context, entries iter.Seq2[*Entry, error], busy int) error {
	for _, r := range *s.scorers.Load() { // there is one
		return r.Fill(ctx, func(yield func(ranking.Item, error) bool) {
			for e, err := range entries {
				s.unsaved.Add(weight(e))
				if !yield(newIndexed(e), err) {
					return
				}
			}
		}, busy)
	}
	return nil
}

// rankedView is a searcher between two changes, for one query and one goroutine.
type rankedView struct {
	*ranking.View
	s      *searcher
	scorer *ranking.Scorer
	ctx    context.Context // of the query
}

// view returns the searcher as it is now, for a query of one ranking. When ctx is
// done it ends early, and what it said is of no use.
func (s *searcher) view(ctx context.Context, r *ranking.Scorer) *rankedView {
	var read func(id uint64) any
	if s.saved != nil {
		read = s.read
	}
	return &rankedView{r.View(ctx, read), s, r, ctx}
}

// with returns the view for another query.
func (v *rankedView) with(ctx context.Context) *rankedView {
	return &rankedView{v.With(ctx), v.s, v.scorer, ctx}
}

// query translates a query for the ranking.
func (v *rankedView) query(q Query) ranking.Query {
	r := ranking.Query{Words: q.Text, AsIs: q.Weigh, Accept: v.accept(q.Filter), Recency: v.recency(q)}
	r.Filter, r.Times, r.More = conditions(v.scorer, q.Filter)
	if o := q.Operators; o != nil && v.Ranking() != RankSeed {
		r.Words, r.Must, r.Not, r.Prefixes = o.Words, o.Must, o.Not, o.Prefixes
	}
	for _, d := range q.Dates {
		r.Spans = append(r.Spans, ranking.Span{From: d.From, To: d.To})
	}
	return r
}

// entry returns the entry of that ID, nil when there is none.
func (v *rankedView) entry(id uint64) *Entry {
	if x, ok := v.Item(id).(*indexed); ok {
		return x.entry
	}
	return nil
}

// read reads an entry that the index file has.
func (s *searcher) read(id uint64) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := s.saved.rows.find(id)
	if !found {
		return nil
	}
	e, err := s.saved.db.entryByID(id)
	switch {
	case err != nil:
		s.err = err
	case e != nil && e.Version >= s.saved.rows.version(i):
		return newIndexed(e)
	}
	return nil
}

// failed returns why the index or an entry could not be read.
func (v *rankedView) failed() error {
	if err := v.Searcher().Err(); err != nil || v.s.saved == nil {
		return err
	}
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	return v.s.err
}

// ids returns the IDs of the entries, rising.
func (v *rankedView) ids() []uint64 {
	x := v.Searcher()
	ids := make([]uint64, 0, x.Size())
	for id := range x.Documents() {
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
		if x, ok := v.Searcher().Put(id).(*indexed); ok {
			versions[i] = x.entry.Version
		} else if j, found := v.s.saved.rows.find(id); found {
			versions[i] = v.s.saved.rows.version(j)
		}
	}
	return ids, versions
}

// rankedEntries are the entries of a view that a query may find.
type rankedEntries struct {
	*rankedView
	plan *ranking.Plan
}

// Len implements [Entries].
func (s rankedEntries) Len() int { return s.Searcher().Size() }

// Versions implements [Entries].
func (s rankedEntries) Versions() (ids, versions []uint64) { return s.versions() }

// Entry implements [Entries].
func (s rankedEntries) Entry(id uint64) *Entry { return s.entry(id) }

// Accepts implements [Entries].
func (s rankedEntries) Accepts(id uint64) bool { return s.plan.Accepts(id) }

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
		return e != nil && f.Match(e)
	}
}

// names yields the names of the entries until ctx is done.
func (v *rankedView) names(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id := range v.Searcher().Documents() {
			if e := v.entry(id); ctx.Err() != nil || e != nil && !e.has(LabelQuarantine) && !yield(e.Name) {
				return
			}
		}
	}
}

// recency returns the factor of each entry under the query, nil for none. It is
// above 0 and at most 1, so that a bound of scores without it is one with it.
func (v *rankedView) recency(q Query) func(id uint64) float64 {
	if q.Recency == 0 {
		return nil
	}
	return func(id uint64) float64 {
		e := v.entry(id)
		if e == nil {
			return 1
		}
		return ageFactor(q.Now.Sub(moment(e)), q.Recency)
	}
}
