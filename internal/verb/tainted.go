// This file keeps the tainted entries of a memory for a run of changes, such as an import.

package verb

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// TaintedEntries has the tainted entries with which the changes of a run are compared. The memory is read before the
// first change of the run, and the run adds the tainted entries that it writes. Without it, each change would read the
// log of all changes before.
type TaintedEntries struct {
	mu      sync.Mutex
	isRead  bool
	entries []oxbow.Entry
	err     error // from reading the memory
}

type taintedKey struct{}

// WithTaintedEntries returns a context for the changes of one run to one memory.
func WithTaintedEntries(ctx context.Context) context.Context {
	return context.WithValue(ctx, taintedKey{}, &TaintedEntries{})
}

// ContextTaintedEntries returns the entries of the run in the context, or nil if the context is not from
// [WithTaintedEntries].
func ContextTaintedEntries(ctx context.Context) *TaintedEntries {
	t, _ := ctx.Value(taintedKey{}).(*TaintedEntries)
	return t
}

// Each calls fn with each entry until fn returns an error. The first call gets the entries of the memory from read. If
// read fails, this call and all later ones return its error.
func (t *TaintedEntries) Each(read func(add func(*oxbow.Entry) error) error, fn func(*oxbow.Entry) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.isRead {
		t.isRead = true
		t.err = read(func(e *oxbow.Entry) error {
			t.entries = append(t.entries, *e)
			return nil
		})
	}
	if t.err != nil {
		return t.err
	}
	for i := range t.entries {
		if err := fn(&t.entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// Add adds an entry that the run writes, if it is tainted. It does nothing if t is nil.
func (t *TaintedEntries) Add(e oxbow.Entry) {
	if t == nil || len(e.Values(oxbow.LabelTaint)) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entries = append(t.entries, e)
}
