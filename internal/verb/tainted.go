// A tainted entry is an entry that an agent wrote after it had read text by others. During a series of changes, such as
// an import, this file keeps the tainted entries in RAM, so that they need not be read from the home again.

package verb

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// TaintedEntries contains the tainted entries. An agent wrote such an entry after it had read text by others. In a
// series of changes, each new text is compared with the tainted entries. The entries are read from the memory once,
// before the first change. Later, each change adds its own tainted entries to the list, so that the next change need
// not read the memory again.
type TaintedEntries struct {
	mu             sync.Mutex
	haveBeenRead   bool
	taintedEntries []oxbow.Entry
	err            error // error of reading the memory
}

type taintedEntriesContextKey struct{}

// WithTaintedEntries returns a context for a series of changes to one memory. Changes with this context share a list of
// the memory's tainted entries, which are entries that text by others may have influenced. Therefore the entries are
// read only once, and not again for each change.
func WithTaintedEntries(ctx context.Context) context.Context {
	return context.WithValue(ctx, taintedEntriesContextKey{}, &TaintedEntries{})
}

// ContextTaintedEntries returns the list of tainted entries that [WithTaintedEntries] put into the context. These are
// entries that text by others may have influenced. Several changes share the list, so that the entries are read only
// once. If the context contains no list, the result is nil.
func ContextTaintedEntries(ctx context.Context) *TaintedEntries {
	t, _ := ctx.Value(taintedEntriesContextKey{}).(*TaintedEntries)
	return t
}

// Each calls fn with each entry, until fn returns an error. The first call of Each reads the memory's entries by
// calling readEntries. If readEntries fails, this call and all later calls return its error.
func (t *TaintedEntries) Each(readEntries func(add func(*oxbow.Entry) error) error, fn func(*oxbow.Entry) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.haveBeenRead {
		t.haveBeenRead = true
		t.err = readEntries(func(e *oxbow.Entry) error {
			t.taintedEntries = append(t.taintedEntries, *e)
			return nil
		})
	}
	if t.err != nil {
		return t.err
	}
	for i := range t.taintedEntries {
		if err := fn(&t.taintedEntries[i]); err != nil {
			return err
		}
	}
	return nil
}

// Add adds an entry that a change has written, if the entry has the label taint. This label means that an agent had
// read text by others before it wrote the entry. If t is nil, Add does nothing.
func (t *TaintedEntries) Add(e oxbow.Entry) {
	if t == nil || len(e.Values(oxbow.LabelTaint)) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taintedEntries = append(t.taintedEntries, e)
}
