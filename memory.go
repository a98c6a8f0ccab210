// This file defines Memory.

package oxbow

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

// A Memory is a [Store] with an index. It can remember, recall and forget entries. It is
// safe for concurrent use. Its methods for history work if the store below is a
// [Historian]. Otherwise they fail with [ErrUnsupported].
type Memory struct {
	store        Store
	capabilities Capabilities // optional interfaces of store
	opts         Options

	buildMu      ctxmutex.Mutex // held while the index is built
	applyMu      ctxmutex.Mutex // held while changes are applied to the index or a ranking is added
	minScanBytes int            // minimum size of the text, in bytes, for a scan (tests change it)
	// minScannedEntries is a number of old entry versions. If a search of an earlier state needs at least so many, it
	// indexes only the query's words (tests change it).
	minScannedEntries int

	editLocks editLocks // locks of the entries that are being edited again after a conflict

	pendingChanges pendingChangeList // changes that are not in the index yet
	// entries that the store is writing now, already analyzed (used only by the
	// goroutine that writes)
	analyzedDeltas []analyzedChange
	closed         atomic.Bool
	closingCtx     context.Context // done when the memory is being closed
	cancelClosing  context.CancelFunc

	// saveIndexSoon writes the index file in the background if the file lacks many changes of the log.
	saveIndexSoon func()
	// saveIndexAtStartLimit writes the index file in the background if too many changes are missing in the file. The
	// limit is the number of changes that a starting process should have to index at most (see
	// missingEntriesLimitAtStart). This limit is lower than the limit of saveIndexSoon.
	saveIndexAtStartLimit func()

	savingIndexMu           ctxmutex.Mutex // held while the index file is written
	isIndexSavePlanned      atomic.Bool    // a background write of the index file is planned
	unsavedEntriesAtFailure atomic.Int64   // number of entries that were not in the file when the last write failed
	// number of recalls (not counted further once this process counts as long-lived)
	recallCount atomic.Int64

	// searcher is the index. It is nil until the first recall, and again after the store was replaced. mu must be held
	// to set it.
	searcher atomic.Pointer[searcher]
	// lastScanIndex is the small index from the last query that was answered by reading all entries. It is reused if
	// the next query has the same terms. It may be nil.
	lastScanIndex atomic.Pointer[queryTermsIndex]

	mu                 sync.Mutex // guards the fields below
	isBuildingSearcher bool       // a searcher is being built
	storeResetCount    int        // number of times that the memory's store was replaced by another state of the store
	// a query was answered by a scan. A later query with other terms builds an index, because a second query makes a
	// third likely.
	hasAnsweredByScan bool
	ignoresIndexFile  bool // the index file is damaged and must not be read again
}

// Store returns the store below the memory.
func (m *Memory) Store() Store { return m.store }

// Watch calls fn with each event of the store until stop is called or the memory is closed. fn is called before the
// call that caused the event returns, and it must not call the memory. A change by another process is reported when
// this memory next searches, for example in [Memory.Recall]. If the store cannot send events, the error matches
// [ErrUnsupported].
func (m *Memory) Watch(fn func(Event)) (stop func(), err error) {
	if m.capabilities.Watcher == nil {
		return nil, fmt.Errorf("%w: this store sends no events", ErrUnsupported)
	}
	return m.capabilities.Watcher.Watch(fn), nil
}

// Capabilities returns the optional interfaces of the memory, for [CapabilitiesOf]. The memory itself implements
// DryRunner. It implements Committer if the store does, so that [Options.Screen] screens the changes. It implements
// Checker if the store does or has a log. If [Options.History] is set, it wraps the history. All other interfaces come
// from the store below the memory.
func (m *Memory) Capabilities() Capabilities {
	c := m.capabilities
	c.DryRunner = m
	if c.Committer != nil {
		c.Committer = m
	}
	if c.Historian != nil && m.opts.History != nil {
		c.Historian = m.opts.History(c.Historian)
	}
	if c.Checker != nil || findLog(m.store) != nil {
		c.Checker = m
	}
	return c
}

// Options returns the options of the memory, with the defaults filled in.
func (m *Memory) Options() Options { return m.opts }

// minScanBytes is the minimum size of the entries' text, in bytes, for which a query scans the entries and does not
// build an index. Indexing less text takes under a tenth of a second, and later queries profit from the index.
const minScanBytes = 2 << 20

// queryTermsIndex is the temporary index made by a scan. It has only the terms of the
// scan's query.
type queryTermsIndex struct {
	view           *rankedView
	addDeltasCalls int64 // value of pendingChanges.addDeltasCalls before the entries were read
}
