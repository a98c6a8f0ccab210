// This file holds the data for deciding whether a new text repeats foreign text, and records
// fingerprints for later comparisons.

package verb

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// ProvenanceData is the data, apart from the change, with which changes are stamped.
type ProvenanceData struct {
	Memory          *oxbow.Memory                                          // memory of the store (nil if none is open)
	SessionExposure func(context.Context, session.Caller) session.Exposure // nil if the home does not record sessions
	DefaultCaller   session.Caller                                         // used if a call's context has no caller

	Fingerprints *fingerprint.File // fingerprints of texts that the home's sessions have read (may be nil)
	IsAtTerminal bool              // a person types the command at a terminal

	// SecondReader reads the memory a second time, for the comparison with its entries. If it is nil, the
	// comparison reads the store that is being written.
	SecondReader *SecondReader
}

// SecondReader opens a memory a second time for reading. A store that has found damage accepts no
// more changes. Therefore the comparison must not read through the store that is written, or damage
// that only the comparison finds would prevent writing.
type SecondReader struct {
	// OpenMemory opens the memory a second time.
	OpenMemory func() (*oxbow.Memory, error)

	mu           sync.RWMutex // locked for reading while the memory is read
	memory       *oxbow.Memory
	foreignIndex foreign.Index // of the memory's foreign texts
}

// Read calls fn with the memory and the index of its foreign texts. Both stay open for the next call unless fn fails.
// If the memory cannot be opened, fn gets store and an empty index.
func (r *SecondReader) Read(store oxbow.Store, fn func(oxbow.Store, *foreign.Index) error) error {
	if r == nil {
		return readWithEmptyIndex(store, fn)
	}
	m := r.openReadLocked()
	if m == nil {
		return readWithEmptyIndex(store, fn)
	}
	err := fn(m.Store(), &r.foreignIndex)
	r.mu.RUnlock()
	if err != nil {
		r.Close()
	}
	return err
}

// readWithEmptyIndex calls fn with a store and an empty index.
func readWithEmptyIndex(store oxbow.Store, fn func(oxbow.Store, *foreign.Index) error) error {
	index := new(foreign.Index)
	defer index.Close()
	return fn(store, index)
}

// openReadLocked returns the memory with r.mu locked for reading. If it returns nil, r.mu is not locked.
func (r *SecondReader) openReadLocked() *oxbow.Memory {
	r.mu.RLock()
	if r.memory != nil {
		return r.memory
	}
	r.mu.RUnlock()
	r.mu.Lock()
	if r.memory == nil {
		r.memory, _ = r.OpenMemory() // after an error, the store is read instead
	}
	r.mu.Unlock()
	r.mu.RLock()
	if r.memory == nil {
		r.mu.RUnlock()
		return nil
	}
	return r.memory
}

// Close closes the memory. The next Read opens it again. It does nothing if r is nil.
func (r *SecondReader) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.foreignIndex.Close()
	if r.memory != nil {
		_ = r.memory.Close() // this cannot lose data, because nothing was written
		r.memory = nil
	}
}

// CanVouch reports whether the source is a person at a page or a terminal. Commands without a
// terminal do not count, because an agent may have started them and hidden the variables that
// identify agents.
func (k *ProvenanceData) CanVouch(src oxbow.Source) bool {
	return src.Actor == oxbow.Person && (src.Door != "cli" || k.IsAtTerminal)
}

// RecordFingerprints records fingerprints of the entries for which nobody vouches.
func RecordFingerprints(p fingerprint.File, entries ...oxbow.Entry) {
	var texts []fingerprint.ReadText
	for i := range entries {
		e := &entries[i]
		if taints := e.Values(oxbow.LabelTaint); len(taints) > 0 {
			texts = append(texts, fingerprint.ReadText{
				Level: fingerprint.LevelForeign, Text: foreign.AllText(e), Labels: taints})
		} else if unvouched := e.Values(oxbow.LabelUnvouched); len(unvouched) > 0 {
			texts = append(texts, fingerprint.ReadText{
				Level: fingerprint.LevelUnvouched, Text: foreign.AllText(e), Labels: unvouched})
		}
	}
	if len(texts) > 0 {
		_, _ = p.AddAll(texts...)
	}
}

type fingerprintsKey struct{}

// withFingerprints returns a context with the file of fingerprints. If an entry that nobody vouches for
// is shown under this context, its fingerprints are recorded, so that a text which repeats the
// entry is found later.
func withFingerprints(ctx context.Context, k ProvenanceData) context.Context {
	if k.Fingerprints == nil {
		return ctx
	}
	return context.WithValue(ctx, fingerprintsKey{}, *k.Fingerprints)
}
