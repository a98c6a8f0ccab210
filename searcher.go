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
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

// A searcher contains the indexes of a memory, one for each ranking in use. Queries read
// it without a lock. A goroutine that changes it must hold Memory.applyMu.
type searcher struct {
	// scorers by ranking name (a scorer is added by replacing the map)
	scorers atomic.Pointer[map[string]*ranking.Scorer]
	// index file that the index was read from, or nil if it was built
	savedIndex *savedIndex
	// approximate work to analyze the changes that are not in the index file, which the next process must do again if
	// the file is not written. The unit is the work to analyze an average entry (see relativeAnalysisCost).
	unsavedAnalysisWork atomic.Int64
	// bytes of the entries that were added and are not in the index file
	unsavedEntryBytes atomic.Int64

	// The searcher can start from the rows of an index file. It then reads an entry from the log db only when a query
	// needs it. db is nil if the store cannot read entries by ID. In this case, all entries are kept in memory.
	db *logstore.DB
	// ID, version and log offset of each entry that the index had when it was opened or built
	initialEntryRows entryRows
	cachedItems      *cache.ValueSlots[*rankedEntryItem] // cached entries by row
	// error from a failed read of an entry, after which the searcher's results are discarded
	err atomic.Pointer[error]
	// If the store is an overlay (a store on top of another store), the entries that the lower store had when the index
	// was built. These entries are always kept in memory.
	lowerStoreEntries []*Entry
	indexPartFiles    indexRunFiles // temporary files with parts of the index, until they are merged
}

// newSearcher returns a searcher with an empty index for the ranking with this name. The store may be any
// implementation. If the store is not a log, the field db of the searcher is nil.
func newSearcher(name string, store Store) *searcher {
	s := &searcher{db: findLog(store), lowerStoreEntries: lowerEntries(store)}
	s.scorers.Store(&map[string]*ranking.Scorer{name: ranking.NewScorer(name, nil)})
	return s
}

func (s *searcher) scorer(name string) *ranking.Scorer { return (*s.scorers.Load())[name] }

// initFromIndexFile initializes the empty searcher s with the index from the index file s.savedIndex. It then applies
// the changes that the store has made since the file was written. It does not read entries: the index reads an entry
// when a query needs it. It returns an error if the changes cannot be read.
func (s *searcher) initFromIndexFile(ctx context.Context) error {
	h := &s.savedIndex.head
	s.setInitialEntryRows(s.savedIndex.rows)
	s.scorers.Store(&map[string]*ranking.Scorer{h.rankingName: ranking.NewScorer(h.rankingName, s.savedIndex.index)})
	return s.applyChangesSince(ctx, Position(h.position.Encode()))
}

// applyChangesSince reads the store's changes after the position pos, and applies them to the search indexes.
func (s *searcher) applyChangesSince(ctx context.Context, pos Position) error {
	var since []analyzedChange
	thinAt, read := minChangesToDedupe, int64(0)
	for d, err := range s.db.Since(ctx, pos) {
		if err != nil {
			return err
		}
		read += relativeAnalysisCost(d.Entry)
		since = appendAndDedupeChanges(since, []analyzedChange{{Delta: d}}, &thinAt)
	}
	last := lastChangePerEntry(since)
	for _, d := range last {
		read -= relativeAnalysisCost(d.Entry)
	}
	// Count the replaced versions as well. If this process does not write the index file, the next process must read
	// and analyze the replaced versions again.
	s.unsavedAnalysisWork.Add(read)
	return s.applyDeltas(ctx, last)
}

// addLowerStoreEntries adds the entries in s.lowerStoreEntries to the index. An overlay store shows the entries from a
// log and from another store, the lower store. The index is first made from the log only, so the entries of the lower
// store must be added.
func (s *searcher) addLowerStoreEntries(ctx context.Context) error {
	ds := make([]analyzedChange, len(s.lowerStoreEntries))
	for i, e := range s.lowerStoreEntries {
		ds[i].Delta = Delta{ID: e.ID, Entry: e}
	}
	return s.applyDeltas(ctx, ds)
}

// setInitialEntryRows sets the table of the entries that the index contains when it is opened or built. It also
// creates the cache for these entries.
func (s *searcher) setInitialEntryRows(rows entryRows) {
	s.initialEntryRows, s.cachedItems = rows, cache.NewValueSlots[*rankedEntryItem](s.db.CacheBudget(), rows.Len())
}

// close closes the index file, removes the temporary files, and empties the cache. Later reads of the index fail. s may
// be nil.
func (s *searcher) close() {
	if s == nil {
		return
	}
	s.indexPartFiles.closeTempFiles()
	s.cachedItems.RemoveAll()
	if s.savedIndex != nil {
		s.savedIndex.close()
	}
}

// applyDeltas applies changes to the indexes of all rankings. If ctx is done before the changed entries are analyzed,
// applyDeltas returns its error and leaves the indexes unchanged.
func (s *searcher) applyDeltas(ctx context.Context, ds []analyzedChange) error {
	scorers := *s.scorers.Load()
	if err := analyzeChangedEntries(ctx, ds, slices.Collect(maps.Values(scorers))); err != nil {
		return err
	}
	olds := make(map[*ranking.Scorer][]*index.Document, len(scorers))
	for _, r := range scorers {
		var err error
		olds[r], err = s.analyzeOldEntries(ctx, r, r.Index().Searcher(), ds)
		if err != nil {
			return err
		}
	}
	changes := make([]index.Change, len(ds))
	data := make([]*rankedEntryItem, len(ds))
	for i, d := range ds {
		if d.Entry != nil {
			data[i] = newRankedEntryItem(d.Entry)
		}
	}
	for _, r := range scorers {
		for i, d := range ds {
			changes[i] = (index.Change{ID: d.ID, Old: olds[r][i]})
			if d.Entry == nil {
				continue
			}
			doc := d.documents[r]
			doc.Data = data[i]
			changes[i].Document = &doc
		}
		r.Index().Apply(changes...)
	}
	for _, d := range ds {
		if d.ID < firstLowerStoreID {
			s.unsavedAnalysisWork.Add(relativeAnalysisCost(d.Entry))
		}
		if d.Entry != nil {
			s.unsavedEntryBytes.Add(int64(logstore.EntryMemorySize(d.Entry)))
		}
	}
	return nil
}

// removeLowerStoreEntries removes some entries from the index, because an index file must contain only entries of the
// log. The removed entries come from the lower store of an overlay store, which shows the entries of two stores
// together.
func (s *searcher) removeLowerStoreEntries(ctx context.Context) error {
	var ds []analyzedChange
	for _, r := range *s.scorers.Load() {
		for id := range r.Index().Searcher().EachDocument() {
			if id >= firstLowerStoreID {
				ds = append(ds, analyzedChange{Delta: Delta{ID: id}})
			}
		}
		break // one ranking is enough, because the indexes of all rankings contain the same entries
	}
	return s.applyDeltas(ctx, ds)
}

// documentsPerOldEntryRead limits how many changed entries are read again to remove their old words from the index. At
// most one changed entry for every 64 documents is read. If more entries changed, reading all postings is faster.
const documentsPerOldEntryRead = 64

// analyzeOldEntries returns a list with an element for each change: the document that the index x now contains for the
// changed entry. The index needs this document to remove the entry's old words. The element is nil if x can remove the
// words without it, or if the log no longer has that version of the entry. If there are many changes, all elements are
// nil, because reading the entries would take too long.
func (s *searcher) analyzeOldEntries(
	ctx context.Context,
	r *ranking.Scorer,
	x *index.Searcher,
	changes []analyzedChange,
) ([]*index.Document, error) {
	olds := make([]*index.Document, len(changes))
	if len(changes) > max(minChangesToDedupe, x.DocumentCount()/documentsPerOldEntryRead) {
		return olds, nil
	}
	var buf ranking.AnalysisBuffer
	versions := s.db.NewVersionReader()
	for i, d := range changes {
		if !x.NeedsOldDocument(d.ID) {
			continue
		}
		if e := s.indexedVersion(x, versions, d.ID); e != nil {
			olds[i] = &index.Document{}
			r.AnalyzeItem(ctx, newRankedEntryItem(e), olds[i], &buf)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return olds, nil
}

// indexedVersion returns the entry with the given ID, as the entry was when it was added to the index. It returns nil
// if the index lacks this entry or if the log no longer contains this version of the entry.
func (s *searcher) indexedVersion(x *index.Searcher, versions *logstore.VersionReader, id uint64) *Entry {
	data, _ := x.DocumentData(id)
	if it, ok := data.(*rankedEntryItem); ok {
		return it.entry
	}
	i, found := s.initialEntryRows.find(id)
	if !found {
		return nil
	}
	return versions.EntryVersion(id, s.initialEntryRows.version(i), s.initialEntryRows.logOffset(i))
}

const (
	// If a write makes at most maxChangesToIndexAtWrite changes with at most maxTextBytesToIndexAtWrite bytes of text,
	// the changes are added to the index right after the write. Other changes wait for the next recall.
	maxChangesToIndexAtWrite   = 8
	maxTextBytesToIndexAtWrite = 16 << 10
)

// canApplyQuickly reports whether the index can apply the changes in a short time. It returns false in two cases:
//
//   - To apply a change, an entry would have to be read from the store, because the entry was not analyzed in the
//     change or the index does not have its old version in memory. The store must not be read, because the write that
//     made the changes may still hold the store's lock.
//   - The contents of the old versions that must be analyzed again have more than maxTextBytesToIndexAtWrite bytes in
//     total.
func (s *searcher) canApplyQuickly(changes []analyzedChange) bool {
	bytes := 0
	for _, d := range changes {
		for _, r := range *s.scorers.Load() {
			if _, analyzed := d.documents[r]; d.Entry != nil && !analyzed {
				return false
			}
			if x := r.Index().Searcher(); x.NeedsOldDocument(d.ID) {
				data, _ := x.DocumentData(d.ID)
				it, ok := data.(*rankedEntryItem)
				if !ok {
					return false
				}
				bytes += len(it.entry.Content)
			}
		}
	}
	return bytes <= maxTextBytesToIndexAtWrite
}

// relativeAnalysisCost returns the cost to analyze the entry e, as a multiple of the cost for an average entry. If the
// index is not written to a file, e must be analyzed again, so the result estimates the lost work.
func relativeAnalysisCost(e *Entry) int64 {
	const text = 4096 // analyzing this many bytes takes about as long as the other work for an average entry
	if e == nil {
		return 1
	}
	return 1 + int64(len(e.Content)/text)
}

// fillIndex builds the index of an empty searcher from entries, which must be ordered by ID. It leaves as many
// processors unused as reservedProcessorCount says, because the goroutines that produce the entries need them. If the
// store is an overlay over another store, fillIndex does not index the entries of the store below, but collects them in
// s.lowerStoreEntries. If ctx is done, fillIndex returns the error of ctx, and the searcher must not be used.
func (s *searcher) fillIndex(ctx context.Context, entries iter.Seq2[*Entry, error], reservedProcessorCount int) error {
	var rows entryRows
	s.lowerStoreEntries = nil
	// this loop runs once, because the index of an empty searcher has a single ranking
	for _, r := range *s.scorers.Load() {
		err := r.FillIndex(ctx, func(yield func(ranking.Item, error) bool) {
			for e, err := range entries {
				x := newRankedEntryItem(e)
				if s.db != nil && err == nil {
					if e.ID >= firstLowerStoreID {
						s.lowerStoreEntries = append(s.lowerStoreEntries, e)
						continue
					}
					s.unsavedAnalysisWork.Add(relativeAnalysisCost(e))
					s.unsavedEntryBytes.Add(int64(logstore.EntryMemorySize(e)))
					x.IsReadOnDemand, rows = true, rows.append(e.ID, e.Version, 0)
				}
				if !yield(x, err) {
					return
				}
			}
		}, reservedProcessorCount, s.indexPartFiles.indexRunOptions(s.db))
		if err != nil || s.db == nil {
			return err
		}
	}
	s.setInitialEntryRows(rows)
	return nil
}

// A rankedView is a consistent state of a searcher, for use by a single query and
// goroutine.
type rankedView struct {
	*ranking.View
	searcher *searcher
	scorer   *ranking.Scorer
	ctx      context.Context // the query ends early when this context is done

	// eachEarlierEntryName calls the function use with the name of each entry in the earlier state that the view shows.
	// It leaves out the names for which the function isWanted returns false. eachEarlierEntryName is nil if the view
	// shows the present state.
	eachEarlierEntryName func(
		ctx context.Context,
		isWanted func(name []byte) bool,
		use func(name string),
	) (ok bool, err error)
}

// newView returns the current state of the searcher for a query. Once ctx is done, the view's
// methods end early and their results must be discarded.
func (s *searcher) newView(ctx context.Context, r *ranking.Scorer) *rankedView {
	var read func(id uint64) ranking.Item
	if s.cachedItems != nil {
		read = s.readItem
	}
	return &rankedView{View: r.NewView(ctx, read), searcher: s, scorer: r, ctx: ctx}
}

// withContext returns a copy of the view that uses ctx. The caller makes one for each query, so that each query stops
// when its own context ends.
func (v *rankedView) withContext(ctx context.Context) *rankedView {
	w := *v
	w.View, w.ctx = v.WithContext(ctx), ctx
	return &w
}

// rankingQuery converts a query to the form that package ranking uses.
func (v *rankedView) rankingQuery(q Query) ranking.Query {
	r := ranking.Query{
		QueryText:                 analysis.QueryText{Words: q.Text},
		WithoutSpellingCorrection: q.Weigh,
		AcceptDocument:            v.newFilterMatcher(q.Filter),
		RecencyFactor:             v.ageScoreFactorFunc(q),
	}
	r.IndexConditions, r.CreatedRange, r.HasUnindexedConditions = convertFilterToClauses(v.scorer, q.Filter)
	if o := q.Operators; o != nil && v.RankingName() != RankSeed {
		r.QueryText = analysis.QueryText{Words: o.Words, Required: o.Must, Excluded: o.Not, Prefixes: o.Prefixes}
	}
	for _, d := range q.Dates {
		r.PreferredSpans = append(r.PreferredSpans, ranking.TimeSpan{From: d.From, To: d.To})
	}
	return r
}

// entry returns the entry with this ID, or nil if the ID is unknown.
func (v *rankedView) entry(id uint64) *Entry {
	if x, ok := v.Item(id).(*rankedEntryItem); ok {
		return x.entry
	}
	return nil
}

// readItem returns the item for the entry with this ID, from the cache or the log. It searches for the ID in
// initialEntryRows, the table of the entries that existed when the index was opened or built. It returns nil if the
// table does not contain the ID, if the log has no entry at least as new as the version in the table, or if the entry
// cannot be read.
func (s *searcher) readItem(id uint64) ranking.Item {
	i, found := s.initialEntryRows.find(id)
	if !found {
		return nil
	}
	if x, ok := s.cachedItems.Get(i); ok {
		return x
	}
	e, err := s.db.EntryByID(id)
	switch {
	case err != nil:
		s.err.CompareAndSwap(nil, &err)
	case e != nil && e.Version >= s.initialEntryRows.version(i):
		x := newRankedEntryItem(e)
		x.IsReadOnDemand = true
		return s.cachedItems.Put(i, x, logstore.EntryMemorySize(e)+ranking.ItemTextCacheBytes(e.Content))
	}
	return nil
}

// firstReadError returns the first error of reading the index or an entry, or nil.
func (v *rankedView) firstReadError() error { return v.searcher.firstReadError(v.Searcher()) }

// firstReadError returns the first error that occurred when an entry or the index file was read. If there was no error,
// it returns nil. The searcher x also reads from the index file, so firstReadError examines the error of x as well.
func (s *searcher) firstReadError(x *index.Searcher) error {
	return cmp.Or(s.entryReadError(), s.indexReadError(x))
}

// entryReadError returns the first error of reading an entry from the log, or nil.
func (s *searcher) entryReadError() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// indexReadError returns the first error of reading the index file, or nil. The searcher x reads from the file.
func (s *searcher) indexReadError(x *index.Searcher) error {
	return cmp.Or(s.initialEntryRows.err(), x.Err())
}

// hasIndexReadError reports whether an error occurred when the index file was read, for any ranking.
func (s *searcher) hasIndexReadError() bool {
	for _, r := range *s.scorers.Load() {
		if s.indexReadError(r.Index().Searcher()) != nil {
			return true
		}
	}
	return false
}

// entryIDs returns the IDs of all entries in ascending order.
func (v *rankedView) entryIDs() []uint64 {
	x := v.Searcher()
	ids := make([]uint64, 0, x.DocumentCount())
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
		data, _ := v.Searcher().DocumentData(id)
		if x, ok := data.(*rankedEntryItem); ok {
			versions[i] = x.entry.Version
		} else if j, found := v.searcher.initialEntryRows.find(id); found {
			versions[i] = v.searcher.initialEntryRows.version(j)
		}
	}
	return ids, versions
}

// allRows returns all entries as rows of an index file. Their offsets are 0.
func (v *rankedView) allRows() entryRows {
	ids, versions := v.entryVersions()
	rows := entryRows{inMemoryRows: make([]byte, 0, indexRowSize*len(ids))}
	for i, id := range ids {
		rows = rows.append(id, versions[i], 0)
	}
	return rows
}

// queryEntries implements [Entries] for a single query.
type queryEntries struct {
	*rankedView
	plan *ranking.Plan
}

func (s queryEntries) Len() int { return s.Searcher().DocumentCount() }

func (s queryEntries) Versions() (ids, versions []uint64) { return s.entryVersions() }

func (s queryEntries) Entry(id uint64) *Entry { return s.entry(id) }

func (s queryEntries) Accepts(id uint64) bool { return s.plan.AcceptsDocument(id) }

// newFilterMatcher returns a function that reports whether the filter selects an entry. It returns
// nil if the filter selects all.
func (v *rankedView) newFilterMatcher(f Filter) func(id uint64) bool {
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

// similarNames returns at most limit names that are similar to a name, best first. Entries in quarantine are left out.
// When ctx is done, the result is incomplete. If the store is a log with a snapshot, similarNames reads no entries that
// the snapshot has.
func (v *rankedView) similarNames(ctx context.Context, name string, limit int) []string {
	similar := text.NewSimilarTexts(name, limit)
	isWanted := func(candidate []byte) bool { return similar.WouldAdd(candidate, 0) }
	if v.eachEarlierEntryName != nil {
		ok, err := v.eachEarlierEntryName(ctx, isWanted, similar.Add)
		if ok && err == nil {
			return similar.Texts()
		}
	} else if v.searcher.db != nil {
		ok, err := v.searcher.db.EachName(ctx, nil, isWanted, func(candidate string, _ []string) bool {
			similar.Add(candidate)
			return true
		})
		for _, e := range v.searcher.lowerStoreEntries {
			if e.MayShow(BySearch) {
				similar.Add(e.Name)
			}
		}
		if ok && err == nil {
			return similar.Texts()
		}
	}
	for id := range v.Searcher().EachDocument() {
		e := v.entry(id)
		if ctx.Err() != nil {
			break
		}
		if e != nil && isWanted([]byte(e.Name)) && e.MayShow(BySearch) {
			similar.Add(e.Name)
		}
	}
	return similar.Texts()
}

// ageScoreFactorFunc returns a function that computes the age factor of an entry, by which the entry's score is
// multiplied. It returns nil if the query does not use recency. Factors are above 0 and at most 1. Therefore a
// multiplied score does not exceed an upper bound that was computed without the factor.
func (v *rankedView) ageScoreFactorFunc(q Query) func(id uint64) float64 {
	if q.Recency == 0 {
		return nil
	}
	return func(id uint64) float64 {
		e := v.entry(id)
		if e == nil {
			return 1
		}
		return ageFactor(q.Now.Sub(ageStartTime(e)), q.Recency)
	}
}
