// This file defines searcher, the indexes that a memory searches.

package oxbow

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/cache"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// A searcher contains the indexes of a memory, one for each ranking in use. Queries read
// it without a lock. A goroutine that changes it must hold Memory.applying.
type searcher struct {
	// scorers by ranking name (a scorer is added by replacing the map)
	scorers atomic.Pointer[map[string]*ranking.Scorer]
	// index file that the index was read from, or nil if it was built
	saved *savedIndex
	// approximate work that is lost without a new index file, in units of an
	// average entry (see [weight])
	unsaved atomic.Int64
	// bytes of the entries that were added and are not in the index file
	given atomic.Int64

	// The index reads the entries with which it started only when a query needs them. db is the
	// log, or nil if the store cannot read entries by ID. In the latter case, the index keeps the
	// entries in memory.
	db    *logstore.DB
	rows  entryRows                // IDs, versions and offsets of the entries that the index started with
	items *cache.Slots[*indexItem] // cached entries by row
	// error of a failed read of an entry, after which the searcher's results are discarded
	err   atomic.Pointer[error]
	under []*Entry // lower entries of an overlay store when the index was built, always kept in memory
	runs  runFiles // temporary files with parts of the index, until they are merged
}

// newSearcher returns a searcher with an empty index for the named ranking. The store may be
// any implementation. If it is not a log, db is nil.
func newSearcher(name string, store Store) *searcher {
	s := &searcher{db: findLog(store), under: lowerEntries(store)}
	s.scorers.Store(&map[string]*ranking.Scorer{name: ranking.New(name, nil)})
	return s
}

func (s *searcher) scorer(name string) *ranking.Scorer { return (*s.scorers.Load())[name] }

// resume makes the index from the index file the index of an empty searcher, and applies
// the changes since that file was written. Entries are not read yet.
func (s *searcher) resume(ctx context.Context) error {
	h := &s.saved.head
	s.setStart(s.saved.rows)
	s.scorers.Store(&map[string]*ranking.Scorer{h.ranking: ranking.New(h.ranking, s.saved.index)})
	return s.applySince(ctx, Position(h.at.Encode()))
}

// applySince applies the changes of the store after a position.
func (s *searcher) applySince(ctx context.Context, pos Position) error {
	var since []analyzedDelta
	thinAt, read := fewPending, int64(0)
	for d, err := range s.db.Since(ctx, pos) {
		if err != nil {
			return err
		}
		read += analysisCost(d.Entry)
		since = appendDeltas(since, []analyzedDelta{{Delta: d}}, &thinAt)
	}
	last := lastDeltas(since)
	for _, d := range last {
		read -= analysisCost(d.Entry)
	}
	s.unsaved.Add(read) // the next process must also read the versions that were replaced since
	return s.apply(ctx, last)
}

// putUnder adds an overlay store's lower entries to an index that has only the log's
// entries.
func (s *searcher) putUnder(ctx context.Context) error {
	ds := make([]analyzedDelta, len(s.under))
	for i, e := range s.under {
		ds[i].Delta = Delta{ID: e.ID, Entry: e}
	}
	return s.apply(ctx, ds)
}

// setStart sets the entries that the index starts with.
func (s *searcher) setStart(rows entryRows) {
	s.rows, s.items = rows, cache.NewSlots[*indexItem](s.db.Room(), rows.Len())
}

// close closes the index file and removes the temporary files. Later reads of the index
// fail.
func (s *searcher) close() {
	if s == nil {
		return
	}
	s.runs.close()
	s.items.Drop()
	if s.saved != nil {
		s.saved.close()
	}
}

// apply applies changes to the indexes of all rankings. If ctx is done before the changed
// entries are analyzed, apply leaves the indexes unchanged.
func (s *searcher) apply(ctx context.Context, ds []analyzedDelta) error {
	scorers := *s.scorers.Load()
	if err := analyzeAll(ctx, ds, slices.Collect(maps.Values(scorers))); err != nil {
		return err
	}
	olds := make(map[*ranking.Scorer][]*index.Document, len(scorers))
	for _, r := range scorers {
		var err error
		olds[r], err = s.analyzeOld(ctx, r, r.Index().Searcher(), ds)
		if err != nil {
			return err
		}
	}
	changes := make([]index.Change, len(ds))
	data := make([]*indexItem, len(ds))
	for i, d := range ds {
		if d.Entry != nil {
			data[i] = newIndexed(d.Entry)
		}
	}
	for _, r := range scorers {
		for i, d := range ds {
			changes[i] = (index.Change{ID: d.ID, Old: olds[r][i]})
			if d.Entry == nil {
				continue
			}
			doc := d.docs[r]
			doc.Data = data[i]
			changes[i].Document = &doc
		}
		r.Index().Apply(changes...)
	}
	for _, d := range ds {
		if d.ID < underID {
			s.unsaved.Add(analysisCost(d.Entry))
		}
		if d.Entry != nil {
			s.given.Add(int64(logstore.EntryBytes(d.Entry)))
		}
	}
	return nil
}

// dropUnder removes an overlay store's lower entries from the index, so that only the
// log's entries remain.
func (s *searcher) dropUnder(ctx context.Context) error {
	var ds []analyzedDelta
	for _, r := range *s.scorers.Load() {
		for id := range r.Index().Searcher().EachDocument() {
			if id >= underID {
				ds = append(ds, analyzedDelta{Delta: Delta{ID: id}})
			}
		}
		break // the index of every ranking has the same documents
	}
	return s.apply(ctx, ds)
}

// manyOld limits the number of changed documents for which the old entry is read, to
// 1 in 64 documents. If more changed, reading all postings is faster.
const manyOld = 64

// analyzeOld returns, for each change, the old document that the change replaces or removes in x, a
// searcher of the scorer. A document is nil if the index does not need the document or cannot find
// it.
func (s *searcher) analyzeOld(
	ctx context.Context,
	r *ranking.Scorer,
	x *index.Searcher,
	ds []analyzedDelta,
) ([]*index.Document, error) {
	olds := make([]*index.Document, len(ds))
	if len(ds) > max(fewPending, x.Size()/manyOld) {
		return olds, nil
	}
	var buf ranking.Buffer
	for i, d := range ds {
		if !x.NeedsOld(d.ID) {
			continue
		}
		if e := s.indexedVersion(x, d.ID); e != nil {
			olds[i] = &index.Document{}
			r.Analyze(ctx, newIndexed(e), olds[i], &buf)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return olds, nil
}

// indexedVersion returns the entry in the version that the index has, or nil if the log no longer has
// it.
func (s *searcher) indexedVersion(x *index.Searcher, id uint64) *Entry {
	data, _ := x.Data(id)
	if it, ok := data.(*indexItem); ok {
		return it.entry
	}
	i, found := s.rows.find(id)
	if !found {
		return nil
	}
	return s.db.EntryVersion(id, s.rows.version(i), s.rows.offset(i))
}

const (
	// mostApplied and textApplied (in bytes) are the maximum number and text size of
	// changes that are applied to the index right after a write, before a recall needs
	// them.
	mostApplied = 8
	textApplied = 16 << 10
)

// canApply reports whether the changes can be applied quickly and without reading the store,
// which may be locked.
func (s *searcher) canApply(ds []analyzedDelta) bool {
	bytes := 0
	for _, d := range ds {
		for _, r := range *s.scorers.Load() {
			if _, analyzed := d.docs[r]; d.Entry != nil && !analyzed {
				return false
			}
			if x := r.Index().Searcher(); x.NeedsOld(d.ID) {
				data, _ := x.Data(d.ID)
				it, ok := data.(*indexItem)
				if !ok {
					return false
				}
				bytes += len(it.entry.Content)
			}
		}
	}
	return bytes <= textApplied
}

// analysisCost returns the cost of analyzing an entry again, in units of an average entry. It
// estimates the work that is lost if the index is not written to a file.
func analysisCost(e *Entry) int64 {
	const text = 4096 // number of content bytes that take as long to analyze as an average entry
	if e == nil {
		return 1
	}
	return 1 + int64(len(e.Content)/text)
}

// fill builds the index of an empty searcher from entries, which must be ordered by ID. It
// leaves busy processors free for the goroutines that produce the entries. The lower
// entries of an overlay store are collected in s.under. If ctx is done, fill returns its
// error and the searcher must not be used.
func (s *searcher) fill(ctx context.Context, entries iter.Seq2[*Entry, error], busy int) error {
	var rows entryRows
	s.under = nil
	for _, r := range *s.scorers.Load() { // loop once: an empty searcher has only one scorer
		err := r.Fill(ctx, func(yield func(ranking.Item, error) bool) {
			for e, err := range entries {
				x := newIndexed(e)
				if s.db != nil && err == nil {
					if e.ID >= underID {
						s.under = append(s.under, e)
						continue
					}
					s.unsaved.Add(analysisCost(e))
					s.given.Add(int64(logstore.EntryBytes(e)))
					x.Late, rows = true, rows.append(e.ID, e.Version, 0)
				}
				if !yield(x, err) {
					return
				}
			}
		}, busy, s.runs.runOptions(s.db))
		if err != nil || s.db == nil {
			return err
		}
	}
	s.setStart(rows)
	return nil
}

// A rankedView is a consistent state of a searcher, for use by a single query and
// goroutine.
type rankedView struct {
	*ranking.View
	s      *searcher
	scorer *ranking.Scorer
	ctx    context.Context // context of the query
	isPast bool            // the view is of an earlier state than the store's
}

// view returns the current state of the searcher for a query. Once ctx is done, the view's
// methods end early and their results must be discarded.
func (s *searcher) view(ctx context.Context, r *ranking.Scorer) *rankedView {
	var read func(id uint64) ranking.Item
	if s.items != nil {
		read = s.readItem
	}
	return &rankedView{View: r.View(ctx, read), s: s, scorer: r, ctx: ctx}
}

// with returns the view for another query.
func (v *rankedView) with(ctx context.Context) *rankedView {
	return &rankedView{View: v.With(ctx), s: v.s, scorer: v.scorer, ctx: ctx, isPast: v.isPast}
}

// query converts a query to the form that package ranking uses.
func (v *rankedView) query(q Query) ranking.Query {
	r := ranking.Query{
		QueryText: analysis.QueryText{Words: q.Text},
		AsIs:      q.Weigh,
		Accept:    v.acceptFunc(q.Filter),
		Recency:   v.ageFactors(q),
	}
	r.Filter, r.Times, r.More = filterClauses(v.scorer, q.Filter)
	if o := q.Operators; o != nil && v.Ranking() != RankSeed {
		r.QueryText = analysis.QueryText{Words: o.Words, Must: o.Must, Not: o.Not, Prefixes: o.Prefixes}
	}
	for _, d := range q.Dates {
		r.Spans = append(r.Spans, ranking.Span{From: d.From, To: d.To})
	}
	return r
}

// entry returns the entry with this ID, or nil if the ID is unknown.
func (v *rankedView) entry(id uint64) *Entry {
	if x, ok := v.Item(id).(*indexItem); ok {
		return x.entry
	}
	return nil
}

// readItem reads an entry that the index started with, from the cache or the log. It returns
// nil if the entry is gone or cannot be read.
func (s *searcher) readItem(id uint64) ranking.Item {
	i, found := s.rows.find(id)
	if !found {
		return nil
	}
	if x, ok := s.items.Get(i); ok {
		return x
	}
	e, err := s.db.EntryByID(id)
	switch {
	case err != nil:
		s.err.CompareAndSwap(nil, &err)
	case e != nil && e.Version >= s.rows.version(i):
		x := newIndexed(e)
		x.Late = true
		return s.items.Put(i, x, logstore.EntryBytes(e)+ranking.MemoBytes(e.Content))
	}
	return nil
}

// readError returns the first error of reading the index or an entry, or nil.
func (v *rankedView) readError() error {
	if err := v.s.err.Load(); err != nil {
		return *err
	}
	return cmp.Or(v.s.rows.err(), v.Searcher().Err())
}

// entryIDs returns the IDs of all entries in ascending order.
func (v *rankedView) entryIDs() []uint64 {
	x := v.Searcher()
	ids := make([]uint64, 0, x.Size())
	for id := range x.EachDocument() {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// entryVersions returns the IDs of all entries in ascending order, and each entry's
// version.
func (v *rankedView) entryVersions() (ids, versions []uint64) {
	ids = v.entryIDs()
	versions = make([]uint64, len(ids))
	for i, id := range ids {
		data, _ := v.Searcher().Data(id)
		if x, ok := data.(*indexItem); ok {
			versions[i] = x.entry.Version
		} else if j, found := v.s.rows.find(id); found {
			versions[i] = v.s.rows.version(j)
		}
	}
	return ids, versions
}

// allRows returns all entries as rows of an index file. Their offsets are 0.
func (v *rankedView) allRows() entryRows {
	ids, versions := v.entryVersions()
	rows := entryRows{made: make([]byte, 0, indexRow*len(ids))}
	for i, id := range ids {
		rows = rows.append(id, versions[i], 0)
	}
	return rows
}

// rankedEntries implements [Entries] for a single query.
type rankedEntries struct {
	*rankedView
	plan *ranking.Plan
}

func (s rankedEntries) Len() int { return s.Searcher().Size() }

func (s rankedEntries) Versions() (ids, versions []uint64) { return s.entryVersions() }

func (s rankedEntries) Entry(id uint64) *Entry { return s.entry(id) }

func (s rankedEntries) Accepts(id uint64) bool { return s.plan.Accepts(id) }

// acceptFunc returns a function that reports whether the filter selects an entry. It returns
// nil if the filter selects all.
func (v *rankedView) acceptFunc(f Filter) func(id uint64) bool {
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

// visibleNames yields the names of the entries that are not in quarantine, until ctx is done. It may
// yield a name more than once. If the store is a log with a snapshot, it reads no entries that
// the snapshot has.
func (v *rankedView) visibleNames(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		more := true
		use := func(name string) bool {
			more = more && yield(name)
			return more
		}
		if v.s.db != nil && !v.isPast {
			ok, err := v.s.db.EachName(ctx, use)
			for _, e := range v.s.under {
				_ = !e.MayShow(BySearch) || use(e.Name)
			}
			if ok && err == nil {
				return
			}
		}
		for id := range v.Searcher().EachDocument() {
			e := v.entry(id)
			if ctx.Err() != nil {
				return
			}
			if e == nil || !e.MayShow(BySearch) {
				continue
			}
			if !use(e.Name) {
				return
			}
		}
	}
}

// ageFactors returns a function that computes the age factor of each entry, or nil if the
// query does not use recency. Factors are above 0 and at most 1, so that an upper bound of
// a score remains a bound when the score is multiplied by its factor.
func (v *rankedView) ageFactors(q Query) func(id uint64) float64 {
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
