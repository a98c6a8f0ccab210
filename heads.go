// Heads of entries: what choosing needs, of all entries, and the text of few.

package oxbow

import (
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"time"
)

// Head is an entry as far as it is known without reading it.
type Head struct {
	// Entry is whole; or it has the ID, the version, the kind, the times and the
	// labels of the keys of [Asked], and is valid until the next head.
	Entry *Entry
	Whole bool
	Size  int // bytes of the content
}

// Heads are the entries of a store at one moment.
type Heads struct {
	All  iter.Seq2[Head, error]               // in order of ID; at most one error, last
	Read func(ids []uint64) ([]*Entry, error) // entries whose heads were not whole
}

// Asked is what heads that are not whole must have.
type Asked struct {
	Keys  []string // of terms of filters, and of labels
	Names []string // an entry that has one of these as a name or an alias has a whole head
}

// Of adds what a filter selects by.
func (a *Asked) Of(f Filter) {
	for _, t := range f.Terms {
		switch t.Key {
		case "name":
			a.Names = append(a.Names, t.Values...)
		case "has":
			a.Keys = append(a.Keys, t.Values...)
		default:
			a.Keys = append(a.Keys, t.Key)
		}
	}
}

// headReader is a Store that has heads, or returns those of another.
type headReader interface {
	ViewHeads(ctx context.Context, asked Asked, fn func(Heads) error) error
}

// ViewHeads calls fn with the heads of the entries of a store, which are valid
// until it returns. It may call fn again, with all of them, when one could not be
// read. The heads of a store that has none, or not what is asked, are whole.
func ViewHeads(ctx context.Context, s Store, asked Asked, fn func(Heads) error) error {
	if h, ok := s.(headReader); ok {
		return h.ViewHeads(ctx, asked, fn)
	}
	return wholeHeads(ctx, s, fn)
}

// wholeHeads calls fn with entries that are read.
func wholeHeads(ctx context.Context, s Store, fn func(Heads) error) error {
	return fn(Heads{
		All: func(yield func(Head, error) bool) {
			for e, err := range s.Entries(ctx, Filter{}) {
				if !yield(Head{&e, true, len(e.Content)}, err) {
					return
				}
			}
		},
		Read: func([]uint64) ([]*Entry, error) { return nil, nil },
	})
}

// ViewHeads implements headReader.
func (d *db) ViewHeads(ctx context.Context, asked Asked, fn func(Heads) error) error {
	if slices.ContainsFunc(asked.Keys, func(key string) bool { return !inForm(key, nil) }) {
		return wholeHeads(ctx, d, fn)
	}
	l, err := d.listing(ctx, Filter{})
	if err != nil {
		return err
	}
	defer l.close()
	err = fn(Heads{
		All: func(yield func(Head, error) bool) { l.heads(ctx, asked.Names, yield) },
		Read: func(ids []uint64) ([]*Entry, error) {
			if len(ids) == 0 { // so it is without a base
				return nil, nil
			}
			es := l.base.entriesOf(ids)
			return es, l.base.failed()
		},
	})
	if l.base.failed() == nil {
		return err
	}
	return wholeHeads(ctx, d, fn) // the log has what the snapshot could not give
}

// heads yields the heads of the entries.
func (l *listing) heads(ctx context.Context, names []string, yield func(Head, error) bool) {
	var named []int
	if l.base != nil {
		named = l.named(names)
		l.base.rows.Load(sectionHeads)
		l.base.rows.Load(sectionEntries)
	}
	order := l.order
	var e Entry
	for row := range l.base.len() {
		if row%4096 == 0 && ctx.Err() != nil {
			yield(Head{}, ctx.Err())
			return
		}
		if l.hidden.has(row) {
			continue
		}
		size, far := l.base.headOf(row, &e)
		for ; len(order) > 0 && order[0].ID < e.ID; order = order[1:] {
			if !yield(Head{order[0], true, len(order[0].Content)}, nil) {
				return
			}
		}
		h := Head{&e, false, size}
		if _, found := slices.BinarySearch(named, row); found || far {
			if h.Entry, h.Whole = l.base.entry(row), true; h.Entry == nil {
				yield(Head{}, l.base.failed())
				return
			}
		}
		if !yield(h, nil) {
			return
		}
	}
	for _, e := range order {
		if !yield(Head{e, true, len(e.Content)}, nil) {
			return
		}
	}
}

// headOf makes e the head of the entry of a row, and returns the bytes of its content.
// Its time of creation may be cut off.
func (s *snapshot) headOf(row int, e *Entry) (size int, far bool) {
	number, bytes := s.form(row)
	f := &s.forms()[number]
	le, r := binary.LittleEndian, s.rows.Row(sectionEntries, row)
	created := int64(le.Uint64(r[24:]))
	*e = Entry{ID: le.Uint64(r), Version: le.Uint64(r[8:]), Kind: f.kind, Labels: f.labels,
		Created: time.Unix(0, created).UTC(), Updated: time.Unix(0, int64(le.Uint64(r[32:]))).UTC()}
	return int(bytes), isFar(created)
}
