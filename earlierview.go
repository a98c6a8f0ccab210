// This file makes a view of an earlier state from the current index.

package oxbow

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/ranking"
)

const (
	// minScannedEntries is the number of old entry versions from which on a search indexes fewer words. If a search of
	// the memory's earlier content must read at least this many old versions, it indexes only the query's words,
	// because indexing all words would take too long. If it must read fewer old versions, it indexes all their words.
	minScannedEntries = 1024

	// maxEarlierEntryBytes is the size, in bytes, of the earlier entries that a view keeps in memory. It reads further
	// entries again when it needs them.
	maxEarlierEntryBytes = 16 << 20

	// maxRereadEntries is the number of earlier entries that a view keeps after it has read them again.
	maxRereadEntries = 4096
)

// newViewAfterChange returns a view of the state that the log had right after the change with the number seq. If an
// entry has not changed since then, the view uses the entry's document in the index. Otherwise the view uses the
// earlier version that the entry had right after the change. The parameter chosenTerms is a set of terms. If the number
// of earlier versions may be minScanned or more, the view contains only these terms for the earlier versions (see
// [ranking.QueryLookupTerms]). Otherwise the view contains all their terms. newViewAfterChange returns nil if the
// earlier versions cannot be found in the log.
func (s *searcher) newViewAfterChange(
	ctx context.Context,
	r *ranking.Scorer,
	seq uint64,
	chosenTerms *analysis.TermSet,
	minScanned int,
) (*rankedView, error) {
	// Get the searcher before the changes, because the changes may be newer than the index but must not be older.
	x := r.Index().Searcher()
	later, ok, err := s.db.LaterChanges(ctx, seq)
	if err != nil || !ok {
		return nil, err
	}
	e := &earlierEntries{searcher: s, seq: seq, laterChanges: later, places: map[uint64]earlierVersionPlace{}}
	entries, isComplete := later.EntriesAtStart(ctx)
	if later.MaxEntriesAtStart() < minScanned {
		chosenTerms = nil
	}
	v, err := r.NewEarlierView(ctx, x, ranking.EarlierItems{
		ChangedIDs:  later.ChangedIDs(),
		Items:       e.items(entries),
		LookupTerms: chosenTerms,
		ReadItem:    e.readItem,
	})
	if err != nil || !isComplete() {
		return nil, err
	}
	return &rankedView{View: v, searcher: s, scorer: r, ctx: ctx, eachEarlierEntryName: e.eachName}, nil
}

// earlierEntries reads the entries that the memory contained after an earlier change. Each value is created for a
// single search of this earlier state and is used only by this search.
type earlierEntries struct {
	searcher     *searcher
	seq          uint64 // number of the last change in the earlier state
	laterChanges *logstore.LaterChanges
	// places of old entry versions in the log, by entry ID; only for versions that are not kept in memory
	places        map[uint64]earlierVersionPlace
	keptBytes     int                         // size of the changed entries that are kept in memory
	rereadEntries map[uint64]*rankedEntryItem // changed entries that were read again, by ID
}

// earlierVersionPlace is the place of an entry's version in the log.
type earlierVersionPlace struct {
	version uint64
	offset  int64 // offset of the version's record
}

// items returns the old versions of the changed entries as items for the search index. Old versions with a total size
// of up to maxEarlierEntryBytes stay in memory. In every further item, the field IsReadOnDemand is true. If a search
// needs such an item, the item is read from the log again.
func (e *earlierEntries) items(entries iter.Seq2[logstore.EntryAtStart, error]) iter.Seq2[ranking.Item, error] {
	return func(yield func(ranking.Item, error) bool) {
		for old, err := range entries {
			if err != nil {
				yield(nil, err)
				return
			}
			x := newRankedEntryItem(old.Entry)
			e.keptBytes += logstore.EntryMemorySize(old.Entry)
			if e.keptBytes > maxEarlierEntryBytes {
				x.IsReadOnDemand = true
				e.places[old.ID] = earlierVersionPlace{old.Version, old.RecordOffset}
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

// readItem returns an entry as it was after the change e.seq. If the entry has changed since then, readItem reads the
// old version from the log, and caches it in e.rereadEntries. It returns nil if the old version cannot be read, for
// example because the log does not contain it any more.
func (e *earlierEntries) readItem(id uint64) ranking.Item {
	place, hasChanged := e.places[id]
	if !hasChanged {
		return e.searcher.readUnchangedItem(id, e.seq)
	}
	if x := e.rereadEntries[id]; x != nil {
		return x
	}
	entry := e.searcher.db.EntryVersion(id, place.version, place.offset)
	if entry == nil {
		return nil
	}
	if len(e.rereadEntries) >= maxRereadEntries || e.rereadEntries == nil {
		e.rereadEntries = map[uint64]*rankedEntryItem{}
	}
	x := newRankedEntryItem(entry)
	e.rereadEntries[id] = x
	return x
}

// readUnchangedItem returns the entry with this ID as it was right after change number seq, for a view of the memory at
// that time. The entry must not have changed between change seq and the creation of the view. If it has changed later,
// its current version is newer than seq. readUnchangedItem then reads from the log the version that the table
// initialEntryRows lists for the entry. It returns nil if the table does not contain the entry or the version cannot be
// read.
func (s *searcher) readUnchangedItem(id, seq uint64) ranking.Item {
	if x, ok := s.readItem(id).(*rankedEntryItem); ok && x.entry.Version <= seq {
		return x
	}
	i, found := s.initialEntryRows.find(id)
	if !found {
		return nil
	}
	e := s.db.EntryVersion(id, s.initialEntryRows.version(i), s.initialEntryRows.logOffset(i))
	if e == nil {
		return nil
	}
	return newRankedEntryItem(e)
}

// eachName calls useName with the name of each entry of the earlier state that is not in quarantine. It leaves out
// entries for which isWanted returns false (see [logstore.DB.EachName]). ok is false if the names cannot be read in
// this way.
func (e *earlierEntries) eachName(
	ctx context.Context,
	isWanted func(name []byte) bool,
	useName func(name string),
) (ok bool, err error) {
	ok, err = e.searcher.db.EachName(ctx, e.laterChanges.IsUnchanged, isWanted, func(name string, _ []string) bool {
		useName(name)
		return true
	})
	if !ok || err != nil {
		return ok, err
	}
	entries, isComplete := e.laterChanges.EntriesAtStart(ctx)
	for old, err := range entries {
		if err != nil {
			return false, err
		}
		if isWanted([]byte(old.Name)) && old.MayShow(BySearch) {
			useName(old.Name)
		}
	}
	return isComplete(), nil
}
