// This file lists the optional interfaces of stores, and finds those that a store supports.

package store

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Capabilities contains the optional interfaces of a store. A field is nil if the store does not support its
// interface.
//
// The values have the same restrictions as the store itself. For example, a scope's Watcher does not send the texts of
// entries outside the scope.
type Capabilities struct {
	DryRunner  DryRunner
	Committer  Committer
	Watcher    Watcher
	Sequencer  Sequencer
	Historian  Historian
	HeadViewer HeadViewer
	Pager      Pager
	Counter    Counter
	Checker    Checker
	Compactor  Compactor
	Redactor   Redactor
}

// CapabilitiesOf returns the optional interfaces that a store supports. Call CapabilitiesOf instead of using a type
// assertion, because a store that wraps another store may have the methods for an interface that the wrapped store
// does not support.
//
// If the store has a method Capabilities, CapabilitiesOf returns its result. A store that wraps another store has this
// method. The result contains only the capabilities that the wrapper chose to offer: its own implementations, and
// those capabilities of the wrapped store that do not bypass the wrapper. Therefore a wrapper does not offer a new
// optional interface until the wrapper's author has added it.
// [github.com/oxbow-memory/oxbow/store/storetest.RunWrapper] tests that nothing bypasses the wrapper.
//
// For other stores, CapabilitiesOf uses type assertions.
func CapabilitiesOf(s Store) (c Capabilities) {
	if w, ok := s.(interface{ Capabilities() Capabilities }); ok {
		return w.Capabilities()
	}
	c.DryRunner, _ = s.(DryRunner)
	c.Committer, _ = s.(Committer)
	c.Watcher, _ = s.(Watcher)
	c.Sequencer, _ = s.(Sequencer)
	c.Historian, _ = s.(Historian)
	c.HeadViewer, _ = s.(HeadViewer)
	c.Pager, _ = s.(Pager)
	c.Counter, _ = s.(Counter)
	c.Checker, _ = s.(Checker)
	c.Compactor, _ = s.(Compactor)
	c.Redactor, _ = s.(Redactor)
	return c
}

// HistoryOf returns the history of a store. If the store does not keep a history, the error
// matches [ErrUnsupported].
func HistoryOf(s Store) (Historian, error) {
	if h := CapabilitiesOf(s).Historian; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("%w: it keeps no history", ErrUnsupported)
}

// A HeadViewer is a Store that can list its entries' heads, that is, the entries without their contents. Callers
// should use package heads and not call a HeadViewer directly.
type HeadViewer interface {
	// ViewHeads calls fn with the heads of all entries as of one moment, ordered by ID. A head is an entry without its
	// content. If the sequence all yields an error, the iteration ends. fn can call the function read to get whole
	// entries by their IDs.
	//
	// A head contains only the labels with the given keys (see [Head]). If the list names contains the name or an alias
	// of an entry, the head contains the whole entry.
	//
	// ViewHeads returns false if the store does not have the requested data or could not read all data. The caller must
	// then read the entries.
	ViewHeads(
		ctx context.Context,
		keys, names []string,
		fn func(all iter.Seq2[Head, error], read func(ids []uint64) ([]*Entry, error)) error,
	) (ok bool, err error)
}

// A HeadTableViewer is a [HeadViewer] that can present heads as a table. Callers should use package heads and not call
// a HeadTableViewer directly. A store that wraps another store does not have to implement it.
type HeadTableViewer interface {
	// ViewHeadTable calls fn with all entries' heads as of one moment. fn must not use the table after it has returned.
	// The forms in the table have exactly the labels with the given keys.
	//
	// ViewHeadTable returns false if the store does not have the requested data or could not read all of it. The caller
	// must then call ViewHeads.
	ViewHeadTable(ctx context.Context, keys []string, fn func(t *HeadTable) error) (ok bool, err error)
}

// A HeadTable contains the heads of a store's entries. A head is either a row of the table or an element of
// ChangedEntries. Rows are numbered from 0 in the order of the entries' IDs. Some numbers may be missing.
//
// A form is a kind and a set of labels. Many rows have the same form, so a caller can decide once for each form whether
// it needs the entries.
type HeadTable struct {
	FormCount      int      // forms are numbered from 0 to FormCount-1
	ChangedEntries []*Entry // the entries that have no row

	// EachForm calls fn with each form. e has only the kind and the labels, and is valid only during the call.
	EachForm func(fn func(form int, e *Entry)) error
	// EachRow calls fn with each row, in ascending order, and with the number of bytes in the entry's content.
	EachRow func(fn func(row, form, size int)) error
	// NewestRows yields all rows and their forms, ordered by the time of the entries' last change, newest first.
	// Entries with the same time are ordered by ID, highest first.
	NewestRows iter.Seq2[int, int]
	// FindRow returns the row of the entry with this ID. ok is false if the entry has no row.
	FindRow func(id uint64) (row, form int, ok bool)
	// Head returns the ID of a row's entry, the time of its last change, and the number of bytes in its content.
	Head func(row int) (id uint64, updated time.Time, size int)
	// Read returns the entries with these IDs, which must have rows.
	Read func(ids []uint64) ([]*Entry, error)
}

// A Pager is a Store that can return the newest entries without reading all entries.
type Pager interface {
	// Newest returns one page with entries that match the filter, ordered by the time of their last change, newest
	// first. The second result is the number of all matches. offset and limit must be at least 0, and their sum must
	// not overflow.
	Newest(ctx context.Context, f Filter, offset, limit int) (page []Entry, total int, err error)
}
