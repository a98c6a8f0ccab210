// Memory: a store and an index over it.

package oxbow

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
)

// Memory is a Store and an index over it: it remembers, recalls and forgets.
// It is itself a [Store], and a [Historian] when the store below is one: its
// methods for history then work, else they fail with [ErrUnsupported]. It is
// safe for concurrent use.
type Memory struct {
	store Store
	opts  Options

	buildMu  ctxmutex.Mutex // held while the index is built
	applying ctxmutex.Mutex // held while changes are applied to it, or a ranking is added
	scanFrom int            // see the constant; tests set another

	editing editLocks // of entries whose edits collided

	pending    pending         // what changed and is not in the index yet
	analyzed   []analyzedDelta // entries that the store is writing; only it calls what uses them, one at a time
	closed     atomic.Bool
	closing    context.Context // is done when the memory is being closed
	endClosing context.CancelFunc

	keepSoon func(begun bool) // writes the index file in the background, if it lacks much or, with begun, as much as one does that a process begins with

	keeping ctxmutex.Mutex // held while the index file is made
	soon    atomic.Bool    // it will be, in the background
	notKept atomic.Int64   // entries that could not be, when it was tried last
	recalls atomic.Int64   // of this process, as far as it was not taken to live on

	searcher atomic.Pointer[searcher] // nil until the first recall, and after a reset; set with mu held
	scanned  atomic.Pointer[scanned]  // for the next question, if it is about the same terms; nil for none

	mu       sync.Mutex // guards the following
	building bool       // a searcher is being built
	resets   int        // times that the store was replaced
	hadScan  bool       // the next question builds the index
	distrust bool       // the index file was damaged: it is not read again
}

// Store returns the store below the memory.
func (m *Memory) Store() Store { return m.store }

// Options returns the options of the memory, with the defaults filled in.
func (m *Memory) Options() Options { return m.opts }

// scanFrom is the bytes of text from which on a scan is worth it: to index less
// takes less than a tenth of a second, and is of use later.
const scanFrom = 2 << 20

// scanned is the index that a scan made.
type scanned struct {
	view     *rankedView
	received int64 // pending.received before it
}
