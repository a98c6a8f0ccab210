// This file contains the data and functions that are needed to decide whether a new text repeats foreign text, that is,
// text by others that an agent has read. It also records fingerprints of texts for later comparisons.

package verb

import (
	"context"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// ProvenanceData contains the data that are needed to determine the origin of a change, besides the change itself.
type ProvenanceData struct {
	// the memory that is being written (nil if none is open)
	Memory *oxbow.Memory
	// returns the texts that a session has read (nil if the home does not record sessions)
	TextsReadBySession func(context.Context, session.Caller) session.Exposure
	// the caller, if the context of a call does not contain one
	DefaultCaller session.Caller

	Fingerprints *fingerprint.Store // fingerprints of the texts that sessions in this home have read (may be nil)
	IsAtTerminal bool               // a person has typed the command at a terminal

	// ComparisonMemory opens the memory a second time, to compare new texts with its entries. If it is nil, the
	// comparison reads the store that is being written.
	ComparisonMemory *ReadOnlyMemory
}

// ReadOnlyMemory opens a memory a second time, only for reading. New texts are compared with the entries in this
// memory. The comparison does not read the store that is being written, because a store that has found damage accepts
// no more changes. If the comparison read that store, damage that only the comparison finds would prevent writing.
type ReadOnlyMemory struct {
	// OpenMemory opens the memory a second time.
	OpenMemory func() (*oxbow.Memory, error)

	mu           sync.RWMutex // locked for reading while the memory is in use
	memory       *oxbow.Memory
	foreignIndex foreign.Index // index of the entries in memory that contain text by others
}

// CallWithReadOnlyStore calls fn with the store of the memory that r opens for reading, and with r.foreignIndex, an
// index of the entries that contain text by others. The memory stays open for the next call, unless fn returns an
// error. If r is nil or the memory cannot be opened, CallWithReadOnlyStore calls fn with the argument store and an
// empty index. It returns the error of fn.
func (r *ReadOnlyMemory) CallWithReadOnlyStore(store oxbow.Store, fn func(oxbow.Store, *foreign.Index) error) error {
	if r == nil {
		return callWithEmptyIndex(store, fn)
	}
	m := r.openAndLockForReading()
	if m == nil {
		return callWithEmptyIndex(store, fn)
	}
	err := fn(m.Store(), &r.foreignIndex)
	r.mu.RUnlock()
	if err != nil {
		r.Close()
	}
	return err
}

// callWithEmptyIndex calls fn with the store and an empty index of texts by others. It is used if the memory cannot be
// opened a second time for reading, because only such a memory has a filled index.
func callWithEmptyIndex(store oxbow.Store, fn func(oxbow.Store, *foreign.Index) error) error {
	index := new(foreign.Index)
	defer index.Close()
	return fn(store, index)
}

// openAndLockForReading opens the memory if necessary, and returns it. r.mu is then locked for reading. If it returns
// nil, r.mu is not locked.
func (r *ReadOnlyMemory) openAndLockForReading() *oxbow.Memory {
	r.mu.RLock()
	if r.memory != nil {
		return r.memory
	}
	r.mu.RUnlock()
	r.mu.Lock()
	if r.memory == nil {
		// If opening the memory for reading fails, r.memory stays nil, and the caller reads through the memory that is
		// open for writing.
		r.memory, _ = r.OpenMemory()
	}
	r.mu.Unlock()
	r.mu.RLock()
	if r.memory == nil {
		r.mu.RUnlock()
		return nil
	}
	return r.memory
}

// Close closes the memory. The next call of CallWithReadOnlyStore opens it again. If r is nil, Close does nothing.
func (r *ReadOnlyMemory) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.foreignIndex.Close()
	if r.memory != nil {
		_ = r.memory.Close() // Ignore the error: this memory was only read, so no data can be lost.
		r.memory = nil
	}
}

// IsCertainlyPerson reports whether the source src is certainly a person. The actor of the source must be a person. If
// the source used the command line (src.Door is "cli"), the command must also run at a terminal. Without a terminal, an
// agent may have started the command. oxbow recognizes agents by environment variables, and the command may have been
// started without these variables.
func (k *ProvenanceData) IsCertainlyPerson(src oxbow.Source) bool {
	return src.Actor == oxbow.Person && (src.Door != "cli" || k.IsAtTerminal)
}

// RecordFingerprints records fingerprints of the texts of tainted and unvouched entries in p, so that oxbow recognizes
// texts that repeat these texts. A tainted entry may contain text that others wrote. The author of an unvouched entry
// is unknown. Other entries are ignored. An error while writing the fingerprints is also ignored.
func RecordFingerprints(p fingerprint.Store, entries ...oxbow.Entry) {
	var texts []fingerprint.TextReadByTool
	for i := range entries {
		e := &entries[i]
		if taints := e.Values(oxbow.LabelTaint); len(taints) > 0 {
			texts = append(texts, fingerprint.TextReadByTool{
				BlockKind: fingerprint.ForeignTextBlock, Text: foreign.ComparableText(e), Labels: taints})
		} else if unvouched := e.Values(oxbow.LabelUnvouched); len(unvouched) > 0 {
			texts = append(texts, fingerprint.TextReadByTool{
				BlockKind: fingerprint.UnknownAuthorTextBlock, Text: foreign.ComparableText(e), Labels: unvouched})
		}
	}
	if len(texts) > 0 {
		_, _ = p.AddAll(texts...)
	}
}

type fingerprintsContextKey struct{}

// withFingerprintFile returns a context for calls that show entries. Such a call records the fingerprints (hashes of
// short word sequences) of each shown entry that no person wrote or approved in *k.Fingerprints. Then oxbow recognizes
// a later text of the agent that repeats such an entry. If k.Fingerprints is nil, withFingerprintFile returns ctx
// unchanged.
func withFingerprintFile(ctx context.Context, k ProvenanceData) context.Context {
	if k.Fingerprints == nil {
		return ctx
	}
	return context.WithValue(ctx, fingerprintsContextKey{}, *k.Fingerprints)
}
