// This file writes the base of a log. The base consists of the records at the beginning of the log,
// and contains the entries at that point.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// baseBytes is the approximate size of the entries that share a record in a base. Longer
// entries get their own record. Damage to a record destroys all its entries, but each
// record needs 72 additional bytes. For entries of 20 bytes, a base is 14 % larger than
// with large records. With a record for each entry, it would be 104 % larger.
const baseBytes = 1 << 10

// seenPerRecord is the number of op IDs in a base record.
const seenPerRecord = 256

// baseWriter creates the records of a base. Each record can be decoded without the earlier records.
type baseWriter struct {
	emit   func(b []byte, ops []loggedOp) error
	hash   hash.Hash // hash over all bodies
	nextID uint64
	seen   []seenID   // op IDs that are not written yet
	ops    []loggedOp // entries that are not written yet
	size   int        // approximate size of ops in bytes
}

// newBaseWriter returns a writer for a base with this next ID and these op IDs.
func newBaseWriter(nextID uint64, seen []seenID, emit func(b []byte, ops []loggedOp) error) *baseWriter {
	return &baseWriter{emit: emit, hash: sha256.New(), nextID: nextID, seen: seen}
}

// add adds an entry. It removes secrets from the entry's source. The sources of logged
// changes cannot be cleaned like this, because the hash chain covers them.
func (w *baseWriter) add(e *store.Entry) error {
	if err := w.writeSeen(); err != nil {
		return err
	}
	if source := sourceWithoutSecrets(e.Source); source != e.Source {
		screened := *e
		screened.Source = source
		e = &screened
	}
	p := loggedOp{verb: store.VerbAdd, entry: e}
	if len(w.ops) > 0 && w.size+p.size() > baseBytes {
		if err := w.writeEntries(); err != nil {
			return err
		}
	}
	w.ops = append(w.ops, p)
	w.size += p.size()
	return nil
}

// isLargeGroup reports whether a base record has more entries than oxbow now puts into a
// record. Before 2026-12, entries of up to 1 MiB shared a record.
func isLargeGroup(ops []loggedOp) bool {
	size := 0
	for i := range ops {
		size += ops[i].size()
	}
	return len(ops) > 1 && size > baseBytes
}

// writeSeen writes the op IDs and the next ID in records before the entries.
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

// close completes the base with the next ID and returns its hash.
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

// writeStateAsBase calls emit for each base record that represents the entries of a
// state. It returns the base's hash.
func writeStateAsBase(st *state, emit func(b []byte) error) (sum [32]byte, err error) {
	w := newBaseWriter(st.nextID, st.seenIDs(), func(b []byte, _ []loggedOp) error { return emit(b) })
	for _, e := range st.order {
		if err := w.add(e); err != nil {
			return sum, err
		}
	}
	return w.close()
}
