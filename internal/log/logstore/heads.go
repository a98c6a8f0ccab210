// This file reads heads of entries from a snapshot.

package logstore

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// ViewHeads calls fn with the heads of the entries (see package heads). It returns false
// if the snapshot lacks a requested key or cannot be read. The caller must then read the
// entries.
func (d *DB) ViewHeads(
	ctx context.Context,
	keys, names []string,
	fn func(all iter.Seq2[store.Head, error], read func(ids []uint64) ([]*store.Entry, error)) error,
) (ok bool, err error) {
	if slices.ContainsFunc(keys, func(key string) bool { return !inForm(key, nil) }) {
		return false, nil
	}
	l, err := d.listing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	all := func(yield func(store.Head, error) bool) { l.heads(ctx, names, yield) }
	err = fn(all, func(ids []uint64) ([]*store.Entry, error) {
		if len(ids) == 0 { // the store may have no snapshot
			return nil, nil
		}
		es := l.base.entriesOf(ids)
		return es, l.base.failed()
	})
	return l.base.failed() == nil, err
}

// heads yields the heads of the entries.
func (l *listing) heads(ctx context.Context, names []string, yield func(store.Head, error) bool) {
	var named []int
	if l.base != nil {
		named = l.named(names)
		l.base.rows.Load(sectionHeads)
		l.base.rows.Load(sectionEntries)
	}
	order := l.order
	var e store.Entry
	for row := range l.base.len() {
		if row%4096 == 0 && ctx.Err() != nil {
			yield(store.Head{}, ctx.Err())
			return
		}
		if l.hidden.has(row) {
			continue
		}
		size, far := l.base.headOf(row, &e)
		for ; len(order) > 0 && order[0].ID < e.ID; order = order[1:] {
			if !yield(store.Head{Entry: order[0], Whole: true, Size: len(order[0].Content)}, nil) {
				return
			}
		}
		h := store.Head{Entry: &e, Whole: false, Size: size}
		if _, found := slices.BinarySearch(named, row); found || far {
			h.Entry, h.Whole = l.base.entry(row), true
			if h.Entry == nil {
				yield(store.Head{}, l.base.failed())
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

// headOf sets e to the head of the entry in a row and returns the content's size. far
// reports that the creation time may have been limited to int64's range.
func (s *snapshot) headOf(row int, e *store.Entry) (size int, far bool) {
	number, bytes := s.form(row)
	f := &s.forms()[number]
	le, r := binary.LittleEndian, s.rows.Row(sectionEntries, row)
	created := int64(le.Uint64(r[24:]))
	*e = store.Entry{ID: le.Uint64(r), Version: le.Uint64(r[8:]), Kind: f.kind, Labels: f.labels,
		Created: time.Unix(0, created).UTC(), Updated: time.Unix(0, int64(le.Uint64(r[32:]))).UTC()}
	return int(bytes), isFar(created)
}
