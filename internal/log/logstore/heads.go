// This file reads the heads of entries from a snapshot. A head is a short description of an entry without its content.

package logstore

import (
	"context"
	"encoding/binary"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// ViewHeads calls the function fn once, so that fn can read the heads of all entries. A head is a short description of
// an entry, without the content, that comes from the snapshot. The function fn has two parameters. The parameter all
// yields the heads. The parameter read is a function that returns the whole entries with the given IDs.
//
// The list keys contains the keys of the labels that each head must contain. If keys contains [store.HeadName], each
// head also contains the entry's name and aliases. If an entry has a name or an alias in the list names, its head
// contains the whole entry.
//
// The result ok is false if the snapshot lacks the labels with one of the keys, or if the snapshot could not be read.
// In this case the caller must read the entries instead.
func (d *DB) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[store.Head, error], read func(ids []uint64) ([]*store.Entry, error)) error,
) (ok bool, err error) {
	named := slices.Contains(keys, store.HeadName)
	if !areLabelSetKeys(keys) {
		return false, nil
	}
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	all := func(yield func(store.Head, error) bool) { l.yieldHeads(ctx, keys, names, yield) }
	if named {
		all = func(yield func(store.Head, error) bool) { l.yieldHeadsWithNames(ctx, keys, names, yield) }
	}
	err = fn(all, l.readByID)
	return l.base.snapshotReadError() == nil, err
}

// readByID returns the entries with these IDs, each of which must have a row in the snapshot.
func (l *entryListing) readByID(ids []uint64) ([]*store.Entry, error) {
	if len(ids) == 0 { // The caller passes no IDs for a store without a snapshot.
		return nil, nil
	}
	es := l.base.readEntriesByID(ids)
	return es, l.base.snapshotReadError()
}

// areLabelSetKeys reports whether the store's snapshots contain the labels with all of these keys. The snapshots
// contain only some labels of an entry, in tables that can be read without the entry itself. The key [store.HeadName]
// is ignored, because it is not a label.
func areLabelSetKeys(keys []string) bool {
	return !slices.ContainsFunc(
		keys,
		func(key string) bool { return key != store.HeadName && !isLabelSetTerm(key, nil) },
	)
}

// yieldHeads yields a head (a short description from the snapshot) for each entry, ordered by ID. A head contains the
// whole entry in three cases: the entry's name or alias is in names, the entry was changed after the snapshot, or its
// times do not fit into a snapshot. All other heads share one Entry value, which the next head overwrites.
func (l *entryListing) yieldHeads(ctx context.Context, labelKeys, names []string, yield func(store.Head, error) bool) {
	r := l.newHeadReader(labelKeys, names, yield)
	for row := range l.base.len() {
		if row%4096 == 0 && ctx.Err() != nil {
			yield(store.Head{}, ctx.Err())
			return
		}
		if !r.yieldRow(row, "") {
			return
		}
	}
	r.yieldChangedEntries(math.MaxUint64)
}

// yieldHeadsWithNames yields a Head for each entry, which contains the entry's name and aliases. A Head describes an
// entry without its text. The lists keys and names say which labels and which names of entries are needed. First come
// the entries of the snapshot, if there is one, and then the entries that were changed after it.
func (l *entryListing) yieldHeadsWithNames(
	ctx context.Context,
	keys, names []string,
	yield func(store.Head, error) bool,
) {
	r := l.newHeadReader(keys, names, yield)
	if l.base != nil {
		more := true
		keydir.EachText(l.base.tables, func(row int, text string) bool {
			if row%4096 == 0 && ctx.Err() != nil {
				more = false
				yield(store.Head{}, ctx.Err())
				return more
			}
			more = row < l.base.len() && r.yieldRow(row, text)
			return more
		})
		if err := l.base.snapshotReadError(); more && err != nil {
			yield(store.Head{}, err)
			return
		}
		if !more {
			return
		}
	}
	r.yieldChangedEntries(math.MaxUint64)
}

// headReader yields the heads of a listing.
type headReader struct {
	listing        *entryListing
	yield          func(store.Head, error) bool
	wholeEntryRows []int // rows, ascending, of the entries with names that the caller needs as whole entries
	labels         labelsByNumber
	changedEntries []*store.Entry // the entries without a row that have not been yielded yet, ordered by ID
	entry          store.Entry    // the entry that the heads share
}

func (l *entryListing) newHeadReader(keys, names []string, yield func(store.Head, error) bool) *headReader {
	r := &headReader{listing: l, yield: yield, changedEntries: l.entriesNotInSnapshot}
	if l.base != nil {
		r.wholeEntryRows = l.findRowsByName(names)
		l.base.tables.LoadTable(sectionEntrySummaries)
		l.base.tables.LoadTable(sectionEntries)
		r.labels.skipsDecoding = !l.base.entryLabelSets().mayHaveLabelKey(keys...)
	}
	return r
}

// yieldRow yields the head of the entry in a row of the snapshot. The head is the entry without its content, and a row
// is the number of an entry in the snapshot. The argument encodedNames is "" or the encoded name and aliases of the
// entry (see encodeNames).
//
// If a later change has hidden the row, yieldRow yields nothing. Otherwise it first yields the changed entries that are
// not in the snapshot and whose IDs are smaller than this entry's ID. It yields the whole entry if the caller needs the
// whole entry, or if its time cannot be read from the row. yieldRow returns false if the iteration must end.
func (r *headReader) yieldRow(row int, encodedNames string) bool {
	l := r.listing
	if l.hiddenRows.hasBit(row) {
		return true
	}
	size, far := l.base.decodeEntryWithoutContent(row, &r.labels, &r.entry)
	if !r.yieldChangedEntries(r.entry.ID) {
		return false
	}
	if _, found := slices.BinarySearch(r.wholeEntryRows, row); found || far {
		e := l.base.readEntry(row)
		if e == nil {
			r.yield(store.Head{}, l.base.snapshotReadError())
			return false
		}
		return r.yield(store.Head{Entry: e, Whole: true, Size: size}, nil)
	}
	if encodedNames == "" {
		return r.yield(store.Head{Entry: &r.entry, Size: size}, nil)
	}
	err := decodeNames(encodedNames, &r.entry)
	if err != nil {
		l.base.recordError(err)
	}
	return r.yield(store.Head{Entry: &r.entry, Size: size}, err)
}

// yieldChangedEntries yields the entries in r.changedEntries whose IDs are below endID, and removes them from
// r.changedEntries. These entries have changed since the snapshot, so they have no row in it. If yieldChangedEntries
// returns false, the iteration must end.
func (r *headReader) yieldChangedEntries(endID uint64) bool {
	for ; len(r.changedEntries) > 0 && r.changedEntries[0].ID < endID; r.changedEntries = r.changedEntries[1:] {
		e := r.changedEntries[0]
		if !r.yield(store.Head{Entry: e, Whole: true, Size: len(e.Content)}, nil) {
			return false
		}
	}
	return true
}

// EachName calls fn with the name and the aliases of each entry that may be found by a search, until fn returns false.
// An entry in quarantine, for example, is left out.
//
// If isIncludedVersion is not nil, EachName also leaves out the entries for which isIncludedVersion returns false. It
// leaves out an entry if isWanted returns false for the name and for all aliases. For entries in the snapshot, isWanted
// is called first, because all other checks take more time. The function isWanted must not keep its argument.
//
// The result ok is false if the names cannot be read from the snapshot. The caller must then read the entries instead.
func (d *DB) EachName(
	ctx context.Context,
	isIncludedVersion func(id, version uint64) bool,
	isWanted func(nameOrAlias []byte) bool,
	fn func(name string, aliases []string) bool,
) (ok bool, err error) {
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	more := true
	use := func(name string, aliases []string) bool {
		more = fn(name, aliases)
		return more
	}
	if l.base != nil {
		err = l.eachSnapshotName(ctx, isIncludedVersion, isWanted, use)
	}
	isTextWanted := func(text string) bool { return isWanted([]byte(text)) }
	for _, e := range l.entriesNotInSnapshot {
		isShown := e.MayShow(store.BySearch) && (isIncludedVersion == nil || isIncludedVersion(e.ID, e.Version)) &&
			(isTextWanted(e.Name) || slices.ContainsFunc(e.Aliases, isTextWanted))
		more = more && err == nil && (!isShown || use(e.Name, e.Aliases))
	}
	return l.base.snapshotReadError() == nil, err
}

// eachSnapshotName implements [DB.EachName] for the entries in the snapshot.
func (l *entryListing) eachSnapshotName(
	ctx context.Context,
	isIncludedVersion func(id, version uint64) bool,
	isWanted func(nameOrAlias []byte) bool,
	fn func(name string, aliases []string) bool,
) (err error) {
	var isShown func(row int) bool // nil until a row is examined
	isLeftOut := func(row int) bool {
		if l.hiddenRows.hasBit(row) {
			return true
		}
		if isShown == nil {
			isShown = l.base.shownRowSelector(store.BySearch)
		}
		if !isShown(row) {
			return true
		}
		version, _ := l.base.entryPosition(row)
		return isIncludedVersion != nil && !isIncludedVersion(l.base.entryID(row), version)
	}
	var e store.Entry
	keydir.EachTextBytes(l.base.tables, func(row int, text []byte) bool {
		if row%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return false
		}
		hasWantedName := len(text) == 0 // decodeNames returns the error for an empty text
		for ok, rest := true, text; ok && len(rest) > 0 && !hasWantedName; {
			var nameOrAlias []byte
			nameOrAlias, rest, ok = keydir.CutLengthAndText(rest)
			hasWantedName = !ok || isWanted(nameOrAlias)
		}
		if !hasWantedName || isLeftOut(row) {
			return true
		}
		err = decodeNames(string(text), &e)
		return err == nil && fn(e.Name, e.Aliases)
	})
	return err
}

// shownRowSelector returns a function that reports whether the entry in a snapshot row may be shown on an occasion,
// such as a search. Labels can forbid this, for example for an entry in quarantine. The entry's author is not
// considered.
func (s *snapshot) shownRowSelector(occasion store.Occasion) func(row int) bool {
	if !s.mayHaveLabelKey(occasion.HeldLabels()...) {
		return func(int) bool { return true }
	}
	isFormSelected := s.selectLabelSets(occasion.Filter())
	s.tables.LoadTable(sectionEntrySummaries)
	return func(row int) bool {
		number, _ := s.labelSetNumberAndSize(row)
		return isFormSelected[number]
	}
}

// decodeEntryWithoutContent decodes an entry from a row of the snapshot's entry table. It sets e to the entry without
// its name, content and aliases, and returns the content's size in bytes. If mayHaveClampedTime is true, the true
// creation time may be outside the range that a snapshot can store.
func (s *snapshot) decodeEntryWithoutContent(
	row int,
	labels *labelsByNumber,
	e *store.Entry,
) (size int, mayHaveClampedTime bool) {
	number, bytes := s.labelSetNumberAndSize(row)
	kind, formLabels := labels.decodeLabelSet(s, number)
	le, r := binary.LittleEndian, s.tables.Row(sectionEntries, row)
	created := int64(le.Uint64(r[24:]))
	*e = store.Entry{ID: le.Uint64(r), Version: le.Uint64(r[8:]), Kind: kind, Labels: formLabels,
		Created: time.Unix(0, created).UTC(), Updated: time.Unix(0, int64(le.Uint64(r[32:]))).UTC()}
	return int(bytes), isClampedTime(created)
}
