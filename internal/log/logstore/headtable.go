// This file presents the heads of a snapshot as a table, so that a caller can rank a million entries without decoding a
// head for each.

package logstore

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// ViewHeadTable implements [store.HeadTableViewer].
func (d *DB) ViewHeadTable(
	ctx context.Context,
	keys []string,
	fn func(t *store.HeadTable) error,
) (ok bool, err error) {
	if !areFormKeys(keys) {
		return false, nil
	}
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	if l.base == nil {
		return false, nil
	}
	err = fn(l.headTable(ctx))
	return l.base.readError() == nil, err
}

// headTable returns the table of the listing's heads. The listing must have a snapshot.
func (l *entryListing) headTable(ctx context.Context) *store.HeadTable {
	return &store.HeadTable{
		FormCount:      len(l.base.entryLabelSets().texts),
		ChangedEntries: l.entriesNotInSnapshot,
		EachForm:       l.eachForm,
		EachRow:        func(fn func(row, form, size int)) error { return l.eachHeadRow(ctx, fn) },
		NewestRows: func(yield func(row, form int) bool) {
			for rank := range l.base.len() {
				row := l.base.rowAtNewestRank(rank)
				if l.hiddenRows.hasBit(row) {
					continue
				}
				form, _ := l.base.labelSetNumberAndSize(row)
				if !yield(row, form) {
					return
				}
			}
		},
		FindRow: func(id uint64) (row, form int, ok bool) {
			row, ok = l.base.findRow(id)
			if !ok || l.hiddenRows.hasBit(row) {
				return 0, 0, false
			}
			form, _ = l.base.labelSetNumberAndSize(row)
			return row, form, true
		},
		Head: func(row int) (id uint64, updated time.Time, size int) {
			_, bytes := l.base.labelSetNumberAndSize(row)
			return l.base.entryID(row), time.Unix(0, l.base.entryField(row, 4)).UTC(), int(bytes)
		},
		Read: l.readByID,
	}
}

// eachForm calls fn with the kind and the labels of each form. Forms that no entry of the listing has may be included.
func (l *entryListing) eachForm(fn func(form int, e *store.Entry)) error {
	var e store.Entry
	for number, text := range l.base.entryLabelSets().texts {
		var err error
		e.Kind = labelSetKind(text)
		e.Labels, err = appendLabelSetLabels(e.Labels[:0], text)
		if err != nil {
			l.base.recordError(err)
			return err
		}
		fn(number, &e)
	}
	return nil
}

// eachHeadRow calls fn with the form number and the content size of each row that is not hidden, ordered by ID.
func (l *entryListing) eachHeadRow(ctx context.Context, fn func(row, form, size int)) error {
	forms := uint32(len(l.base.entryLabelSets().texts))
	row := 0
	l.base.tables.EachCachedPage(sectionEntrySummaries, func(heads []byte) {
		if ctx.Err() != nil {
			return
		}
		for ; len(heads) > 0; heads = heads[keydir.RowSize[sectionEntrySummaries]:] {
			form, size := binary.LittleEndian.Uint32(heads), binary.LittleEndian.Uint32(heads[4:])
			switch {
			case form >= forms:
				l.base.recordLabelSetError(row)
			case !l.hiddenRows.hasBit(row):
				fn(row, int(form), int(size))
			}
			row++
		}
	})
	return ctx.Err()
}
