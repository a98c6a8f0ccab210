// What a memory searches: an index for each ranking that was asked for, and the
// entries of its documents.

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
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// searcher is the indexes of a memory. Queries read them without a lock;
// Memory.applying is held to change them.
type searcher struct {
	scorers atomic.Pointer[map[string]*ranking.Scorer] // by ranking; a map is replaced, never changed
	saved   *savedIndex                                // what the memory's own ranking began from, nil for nothing
	unsaved atomic.Int64                               // entries put or removed since; one of much text counts as several
	given   atomic.Int64                               // bytes of the entries that were put and are not in the file

	// The entries that the index had at first are read when they are needed.
	db    *logstore.DB           // nil for a store that cannot read them by ID: the index keeps them
	rows  entryRows              // what they were
	items *cache.Slots[*indexed] // those that were read, by row, as far as there is room
	err   atomic.Pointer[error]  // why one could not be read: what was found counts for nothing
	under []*Entry               // of an overlay, when the index began; they are always kept
	runs  runFiles               // that it was filled to, until they are merged
}

// newSearcher returns an empty searcher of that store, which may be none in one log.
func newSearcher(name string, of Store) *searcher {
	s := &searcher{db: logOf(of), under: underOf(of)}
	s.scorers.Store(&map[string]*ranking.Scorer{name: ranking.New(name, nil)})
	return s
}

func (s *searcher) scorer(name string) *ranking.Scorer { return (*s.scorers.Load())[name] }

// resume makes the index of the file that of an empty searcher, and applies what
// changed since. Nothing else is read now.
func (s *searcher) resume(ctx context.Context) error {
	h := &s.saved.head
	s.begin(s.saved.rows)
	s.scorers.Store(&map[string]*ranking.Scorer{h.ranking: ranking.New(h.ranking, s.saved.index)})
	return s.applySince(ctx, Position(h.at.Encode()))
}

// applySince applies what changed in the store since a position.
func (s *searcher) applySince(ctx context.Context, at Position) error {
	var since []analyzedDelta
	thinAt := fewPending
	for d, err := range s.db.Since(ctx, at) {
		if err != nil {
			return err
		}
		since = appendDeltas(since, []analyzedDelta{{Delta: d}}, &thinAt)
	}
	return s.apply(ctx, lastDeltas(since))
}

// putUnder puts the entries under an overlay into the index of the log's entries.
func (s *searcher) putUnder(ctx context.Context) error {
	ds := make([]analyzedDelta, len(s.under))
	for i, e := range s.under {
		ds[i].Delta = Delta{ID: e.ID, Entry: e}
	}
	return s.apply(ctx, ds)
}

// begin makes rows the entries that the index has at first.
func (s *searcher) begin(rows entryRows) {
	s.rows, s.items = rows, cache.NewSlots[*indexed](s.db.Room(), rows.Len())
}

// close closes the index file. What is read of it after that is an error.
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
		olds[r], err = s.analyzeOld(ctx, r, ds)
		if err != nil {
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
			s.unsaved.Add(weight(d.Entry))
		}
		if d.Entry != nil {
			s.given.Add(int64(logstore.EntryBytes(d.Entry)))
		}
	}
	return nil
}

// dropUnder takes the entries under an overlay out of the index, which is then that of
// the log.
func (s *searcher) dropUnder(ctx context.Context) error {
	var ds []analyzedDelta
	for _, r := range *s.scorers.Load() {
		for id := range r.Index().Searcher().Documents() {
			if id >= underID {
				ds = append(ds, analyzedDelta{Delta: Delta{ID: id}})
			}
		}
		break // the others have the same
	}
	return s.apply(ctx, ds)
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
	data, _ := x.Data(id)
	if it, ok := data.(*indexed); ok {
		return it.entry
	}
	i, found := s.rows.find(id)
	if !found {
		return nil
	}
	return s.db.EntryAsOf(id, s.rows.version(i), s.rows.offset(i))
}

const (
	// mostApplied is how many changes, one after the other or at once, are applied to
	// the index without a recall that needs them, and how many bytes of text at once.
	mostApplied = 8
	textApplied = 16 << 10
)

// applies reports whether changes can be applied in little time, and without the
// store, which may be locked.
func (s *searcher) applies(ds []analyzedDelta) bool {
	bytes := 0
	for _, d := range ds {
		for _, r := range *s.scorers.Load() {
			if _, analyzed := d.docs[r]; d.Entry != nil && !analyzed {
				return false
			}
			if x := r.Index().Searcher(); x.NeedsOld(d.ID) {
				data, _ := x.Data(d.ID)
				it, ok := data.(*indexed)
				if !ok {
					return false
				}
				bytes += len(it.entry.Content)
			}
		}
	}
	return bytes <= textApplied
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
// processors to what makes them as are busy; those under an overlay become what is under
// it. When ctx is done it ends early, with its error; the searcher is then of no use.
func (s *searcher) fill(ctx context.Context, entries iter.Seq2[*Entry, error], busy int) error {
	var rows entryRows
	s.under = nil
	for _, r := range *s.scorers.Load() { // there is one
		err := r.Fill(ctx, func(yield func(ranking.Item, error) bool) {
			for e, err := range entries {
				x := newIndexed(e)
				if s.db != nil && err == nil {
					if e.ID >= underID {
						s.under = append(s.under, e)
						continue
					}
					s.unsaved.Add(weight(e))
					s.given.Add(int64(logstore.EntryBytes(e)))
					x.Late, rows = true, rows.append(e.ID, e.Version, 0)
				}
				if !yield(x, err) {
					return
				}
			}
		}, busy, s.runs.of(s.db))
		if err != nil || s.db == nil {
			return err
		}
	}
	s.begin(rows)
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
	var read func(id uint64) ranking.Item
	if s.items != nil {
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
		r.Words = o.Words
		r.Must = o.Must
		r.Not = o.Not
		r.Prefixes = o.Prefixes
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

// read reads an entry that the index had at first.
func (s *searcher) read(id uint64) ranking.Item {
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

// failed returns why the index or an entry could not be read.
func (v *rankedView) failed() error {
	if err := v.s.err.Load(); err != nil {
		return *err
	}
	return cmp.Or(v.s.rows.err(), v.Searcher().Err())
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
		data, _ := v.Searcher().Data(id)
		if x, ok := data.(*indexed); ok {
			versions[i] = x.entry.Version
		} else if j, found := v.s.rows.find(id); found {
			versions[i] = v.s.rows.version(j)
		}
	}
	return ids, versions
}

// allRows returns the entries as rows of an index file, without offsets.
func (v *rankedView) allRows() entryRows {
	ids, versions := v.versions()
	rows := entryRows{made: make([]byte, 0, indexRow*len(ids))}
	for i, id := range ids {
		rows = rows.append(id, versions[i], 0)
	}
	return rows
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
			if e := v.entry(id); ctx.Err() != nil || (e != nil && !quarantined(e) && !yield(e.Name)) {
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
