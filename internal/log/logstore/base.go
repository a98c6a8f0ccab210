// The base of a log: records of the entries that it begins with.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// baseBytes is about how many bytes of entries share one record of a base. A longer entry
// has a record of its own. Damage costs the entries of the record that it hits, and each
// record takes 72 bytes more: with entries of 20 bytes, a base grows by 14 % over one of
// large records, with a record for each entry by 104 %.
const baseBytes = 1 << 10

// seenPerRecord is how many op ids one record of a base holds.
const seenPerRecord = 256

// baseWriter makes the records of a base. No record is needed to read another.
type baseWriter struct {
	emit   func(b []byte, ops []put) error
	hash   hash.Hash // of all bodies together
	nextID uint64
	seen   []seenID // not written yet
	ops    []put    // not written yet
	size   int      // about the bytes of ops
}

// newBaseWriter returns a writer of a base after which the next entry gets that ID, and the
// op ids are seen.
func newBaseWriter(nextID uint64, seen []seenID, emit func(b []byte, ops []put) error) *baseWriter {
	return &baseWriter{emit: emit, hash: sha256.New(), nextID: nextID, seen: seen}
}

// add adds an entry, without the secrets that its source has. The sources of changes in the
// log cannot be changed, because the chain of hashes covers them.
func (w *baseWriter) add(e *store.Entry) error {
	if err := w.writeSeen(); err != nil {
		return err
	}
	if source := sourceWithoutSecrets(e.Source); source != e.Source {
		screened := *e
		screened.Source = source
		e = &screened
	}
	p := put{verb: store.VerbAdd, entry: e}
	if len(w.ops) > 0 && w.size+p.size() > baseBytes {
		if err := w.writeEntries(); err != nil {
			return err
		}
	}
	w.ops = append(w.ops, p)
	w.size += p.size()
	return nil
}

// isLargeGroup reports whether a record of a base has several entries that would not share
// one now: before 2026-12, entries of 1 MiB shared one.
func isLargeGroup(ops []put) bool {
	size := 0
	for i := range ops {
		size += ops[i].size()
	}
	return len(ops) > 1 && size > baseBytes
}

// writeSeen writes the op ids, and the ID of the next entry, in records before the entries.
func (w *baseWriter) writeSeen() error {
	for len(w.seen) > 0 {
		n := min(len(w.seen), seenPerRecord)
		if err := w.write(&body{nextID: w.nextID, seen: w.seen[:n]}); err != nil {
			return err
		}
		w.seen = w.seen[n:]
	}
	return nil
}

func (w *baseWriter) writeEntries() error {
	v := &body{ops: w.ops}
	w.ops, w.size = nil, 0
	return w.write(v)
}

func (w *baseWriter) write(v *body) error {
	b := appendBase(nil, v)
	w.hash.Write(b)
	return w.emit(b, v.ops)
}

// close ends the base with the ID of the next entry, and returns its hash.
func (w *baseWriter) close() (sum [32]byte, err error) {
	if err := w.writeSeen(); err != nil {
		return sum, err
	}
	if len(w.ops) > 0 {
		if err := w.writeEntries(); err != nil {
			return sum, err
		}
	}
	if w.nextID > 0 {
		err = w.write(&body{nextID: w.nextID})
	}
	w.hash.Sum(sum[:0])
	return sum, err
}

// writeStateAsBase calls emit with the records of a base of the entries of a state, and
// returns the hash of the base.
func writeStateAsBase(st *state, emit func(b []byte) error) (sum [32]byte, err error) {
	w := newBaseWriter(st.nextID, st.seenIDs(), func(b []byte, _ []put) error { return emit(b) })
	for _, e := range st.order {
		if err := w.add(e); err != nil {
			return sum, err
		}
	}
	return w.close()
}
