// This file reads the heads of entries from a snapshot.

package logstore

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// ViewHeads calls fn with the heads of all entries. A head is a short description of an entry from the snapshot,
// without the content. ViewHeads returns false if the snapshot lacks the labels of a key or cannot be read. The caller
// must then read the entries.
func (d *DB) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[store.Head, error], read func(ids []uint64) ([]*store.Entry, error)) error,
) (ok bool, err error) {
	named := slices.Contains(keys, store.HeadName)
	if slices.ContainsFunc(keys, func(key string) bool { return key != store.HeadName && !isFormTerm(key, nil) }) {
		return false, nil
	}
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	all := func(yield func(store.Head, error) bool) { l.yieldHeads(ctx, keys, names, yield) }
	if named {
		all = func(yield func(store.Head, error) bool) { l.yieldNamedHeads(ctx, keys, names, yield) }
	}
	err = fn(all, func(ids []uint64) ([]*store.Entry, error) {
		if len(ids) == 0 { // The caller passes no IDs if the store has no snapshot.
			return nil, nil
		}
		es := l.base.readEntriesByID(ids)
		return es, l.base.readError()
	})
	return l.base.readError() == nil, err
}

// yieldHeads yields a head (a short description from the snapshot) for each entry, ordered by ID. A head contains the
// whole entry in three cases: the entry's name or alias is in names, the entry was changed after the snapshot, or its
// times do not fit into a snapshot. All other heads share one Entry value, which the next head overwrites.
func (l *entryListing) yieldHeads(ctx context.Context, keys, names []string, yield func(store.Head, error) bool) {
	var named []int
	var labels formLabels
	if l.base != nil {
		named = l.rowsNamed(names)
		l.base.tables.LoadTable(sectionHeads)
		l.base.tables.LoadTable(sectionEntries)
		labels.isUnneeded = !l.base.entryForms().mayHaveLabel(keys...)
	}
	order := l.changedEntries
	var e store.Entry
	for row := range l.base.len() {
		if row%4096 == 0 && ctx.Err() != nil {
			yield(store.Head{}, ctx.Err())
			return
		}
		if l.hiddenRows.hasBit(row) {
			continue
		}
		size, far := l.base.decodeHead(row, &labels, &e)
		for ; len(order) > 0 && order[0].ID < e.ID; order = order[1:] {
			if !yield(store.Head{Entry: order[0], Whole: true, Size: len(order[0].Content)}, nil) {
				return
			}
		}
		h := store.Head{Entry: &e, Whole: false, Size: size}
		if _, found := slices.BinarySearch(named, row); found || far {
			h.Entry, h.Whole = l.base.readEntry(row), true
			if h.Entry == nil {
				yield(store.Head{}, l.base.readError())
				return
			}
		}
		if !yield(h, nil) {
			return
		}
	}
	for _, e := range order {
		if !yield(store.Head{Entry: e, Whole: true, Size: len(e.Content)}, nil) {
			return
		}
	}
}

// yieldNamedHeads yields a short description of each entry, with the entry's name and aliases.
func (l *entryListing) yieldNamedHeads(
	ctx context.Context,
	keys, names []string,
	yield func(store.Head, error) bool,
) {
	var texts []string // names of the entries, by row in the snapshot
	if l.base != nil {
		texts = l.base.encodedNames()
	}
	row := 0
	l.yieldHeads(ctx, keys, names, func(h store.Head, err error) bool {
		if err == nil && !h.Whole {
			for row < len(texts)-1 && l.base.entryID(row) != h.Entry.ID {
				row++
			}
			err = decodeNames(texts[row], h.Entry)
			if err != nil {
				l.base.recordError(err)
			}
		}
		return yield(h, err)
	})
}

// EachName calls fn with the name of each entry that is not in quarantine, until fn returns false. If isListed is not
// nil, EachName leaves out the entries for which isListed returns false. EachName returns false if the names cannot be
// read from a snapshot. The caller must then read the entries.
func (d *DB) EachName(
	ctx context.Context,
	isListed func(id, version uint64) bool,
	fn func(name string) bool,
) (ok bool, err error) {
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	more := true
	use := func(name string) bool {
		more = fn(name)
		return more
	}
	if l.base != nil {
		err = l.eachBaseName(ctx, isListed, use)
	}
	for _, e := range l.changedEntries {
		isShown := e.MayShow(store.BySearch) && (isListed == nil || isListed(e.ID, e.Version))
		more = more && err == nil && (!isShown || use(e.Name))
	}
	return l.base.readError() == nil, err
}

// eachBaseName implements [DB.EachName] for the entries in the snapshot.
func (l *entryListing) eachBaseName(
	ctx context.Context,
	isListed func(id, version uint64) bool,
	fn func(name string) bool,
) (err error) {
	isHeld := func(int) bool { return false }
	if l.base.entryForms().mayHaveLabel(store.BySearch.HeldLabels()...) {
		isShown := l.base.rowSelector(store.BySearch.Filter())
		isHeld = func(row int) bool { return !isShown(row) }
	}
	isLeftOut := func(row int) bool { return l.hiddenRows.hasBit(row) || isHeld(row) }
	if isListed != nil {
		isLeftOut = func(row int) bool {
			version, _ := l.base.entryPosition(row)
			return l.hiddenRows.hasBit(row) || isHeld(row) || !isListed(l.base.entryID(row), version)
		}
	}
	var e store.Entry
	keydir.EachText(l.base.tables, func(row int, text string) bool {
		if row%4096 == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return false
		}
		if isLeftOut(row) {
			return true
		}
		err = decodeNames(text, &e)
		return err == nil && fn(e.Name)
	})
	return err
}

// encodedNames returns the encoded name and aliases of each entry, by row. All texts share the memory of one string.
func (s *snapshot) encodedNames() []string {
	var all strings.Builder
	all.Grow(s.head.sectionCounts[sectionTexts])
	ends := make([]int, 0, s.len())
	keydir.EachText(s.tables, func(_ int, text string) bool {
		all.WriteString(text)
		ends = append(ends, all.Len())
		return true
	})
	texts, from := make([]string, s.len()), 0
	for row, end := range ends[:min(len(ends), s.len())] {
		texts[row] = all.String()[from:end]
		from = end
	}
	return texts
}

// decodeHead sets e to the head of the entry in a row and returns the content's size. If mayBeClamped is true, the
// creation time may be outside the range that a snapshot can store.
func (s *snapshot) decodeHead(row int, labels *formLabels, e *store.Entry) (size int, mayBeClamped bool) {
	number, bytes := s.formAndSize(row)
	kind, formLabels := labels.decodeForm(s, number)
	le, r := binary.LittleEndian, s.tables.Row(sectionEntries, row)
	created := int64(le.Uint64(r[24:]))
	*e = store.Entry{ID: le.Uint64(r), Version: le.Uint64(r[8:]), Kind: kind, Labels: formLabels,
		Created: time.Unix(0, created).UTC(), Updated: time.Unix(0, int64(le.Uint64(r[32:]))).UTC()}
	return int(bytes), isClampedTime(created)
}
