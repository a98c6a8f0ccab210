// This file is what decides whether a text that is written repeats others, and keeps what
// later texts are compared with.

package verb

import (
	"context"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// Knowledge is what stamps depend on besides the change.
type Knowledge struct {
	Memory   *oxbow.Memory                                          // of the store; nil where none is open
	Exposure func(context.Context, session.Caller) session.Exposure // nil where there are no sessions
	Caller   session.Caller                                         // of a call whose context carries none

	Prints     *fingerprint.File // of what the sessions of the home have read; nil for none
	AtTerminal bool              // a person of the command line types at a terminal

	// Second reads the memory a second time for the comparison with its entries. If it is
	// nil, the store that is written is read.
	Second *SecondReader
}

// SecondReader reads a memory that is open already. A store that has met damage accepts no
// change, so damage that only the comparison meets must not be met through the store that is
// written.
type SecondReader struct {
	// Open opens the memory once more.
	Open func() (*oxbow.Memory, error)

	mu     sync.RWMutex // held shared while the memory is read
	memory *oxbow.Memory
}

// Read calls fn with the memory, which stays open for the next call unless fn fails. If the
// memory cannot be opened, fn gets store.
func (r *SecondReader) Read(store oxbow.Store, fn func(oxbow.Store) error) error {
	if r == nil {
		return fn(store)
	}
	m := r.open()
	if m == nil {
		return fn(store)
	}
	err := fn(m.Store())
	r.mu.RUnlock()
	if err != nil {
		r.Close()
	}
	return err
}

// open returns the memory with mu held shared, or nil without it.
func (r *SecondReader) open() *oxbow.Memory {
	r.mu.RLock()
	if r.memory != nil {
		return r.memory
	}
	r.mu.RUnlock()
	r.mu.Lock()
	if r.memory == nil {
		r.memory, _ = r.Open() // the store is read instead
	}
	r.mu.Unlock()
	r.mu.RLock()
	if r.memory == nil {
		r.mu.RUnlock()
		return nil
	}
	return r.memory
}

// Close closes the memory. The next Read opens it again.
func (r *SecondReader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.memory != nil {
		_ = r.memory.Close() // nothing was written
		r.memory = nil
	}
}

// vouches reports whether the source is a person who is there: at a page or a terminal. A
// command whose input is no terminal may be an agent's that hides the variables by which
// it is known.
func (k *Knowledge) vouches(src oxbow.Source) bool {
	return src.Actor == oxbow.Person && (src.Door != "cli" || k.AtTerminal)
}

// keepPrints keeps fingerprints of changes that repeat others or were written by nobody who
// is known, so that what repeats these is found, too. Errors are ignored: such changes are
// also compared with the entries themselves.
func keepPrints(ops []oxbow.Op, k Knowledge) {
	if k.Prints == nil {
		return
	}
	for _, op := range ops {
		if e := afterOp(op, oxbow.Entry{}); e.Content != "" {
			keepPrintsOf(*k.Prints, &e)
		}
	}
}

// keepPrintsOf keeps fingerprints of an entry if nobody vouches for it.
func keepPrintsOf(p fingerprint.File, e *oxbow.Entry) {
	if taints := e.Values(oxbow.LabelTaint); len(taints) > 0 {
		_, _ = p.Add(fingerprint.Foreign, writtenText(e), taints...)
	} else if unvouched := e.Values(oxbow.LabelUnvouched); len(unvouched) > 0 {
		_, _ = p.Add(fingerprint.Unvouched, writtenText(e), unvouched...)
	}
}

// writtenText returns the text of an entry that may repeat others.
func writtenText(e *oxbow.Entry) string {
	return strings.Join(append([]string{e.Content, e.Name}, e.Aliases...), "\n")
}

type printsKey struct{}

// withPrints returns a context in which fingerprints are kept of entries that are shown and
// that nobody vouches for, so that what repeats them is found.
func withPrints(ctx context.Context, k Knowledge) context.Context {
	if k.Prints == nil {
		return ctx
	}
	return context.WithValue(ctx, printsKey{}, *k.Prints)
}
