// This file writes the base of a log: the records at the beginning of the log that contain the entries at the time of
// the last compaction.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// maxGroupBytes is the approximate size of the entries in one base record. A longer entry gets a record of its own.
// Damage to a record destroys all entries in it, but each record needs 72 more bytes. For entries of 20 bytes, a base
// is 14 % larger than with large records. With one record for each entry, it would be 104 % larger.
const maxGroupBytes = 1 << 10

// opIDsPerRecord is the maximum number of op IDs in a base record.
const opIDsPerRecord = 256

// baseWriter creates the records of a base. Each record can be decoded without the others.
type baseWriter struct {
	emitRecord func(b []byte, ops []loggedOp) error
	bodyHash   hash.Hash // hash of the bodies of all records
	nextID     uint64
	opIDs      []seenOpID // op IDs that are not in a record yet
	ops        []loggedOp // entries that are not in a record yet
	opsSize    int        // approximate encoded size of ops, in bytes
}

// newBaseWriter returns a writer of base records. It passes each record and the record's entries to emit. nextID is
// the ID of the next new entry, and opIDs are the op IDs that the base remembers.
func newBaseWriter(nextID uint64, opIDs []seenOpID, emit func(b []byte, ops []loggedOp) error) *baseWriter {
	return &baseWriter{emitRecord: emit, bodyHash: sha256.New(), nextID: nextID, opIDs: opIDs}
}

// addEntry adds an entry to the base. It removes passwords and keys from the entry's source. The sources of logged
// changes cannot be changed in this way, because the hash chain covers them.
func (w *baseWriter) addEntry(e *store.Entry) error {
	if err := w.writeOpIDs(); err != nil {
		return err
	}
	if source := sourceWithoutSecrets(e.Source); source != e.Source {
		screened := *e
		screened.Source = source
		e = &screened
	}
	p := loggedOp{verb: store.VerbAdd, entry: e}
	if len(w.ops) > 0 && w.opsSize+p.encodedSize() > maxGroupBytes {
		if err := w.writeEntries(); err != nil {
			return err
		}
	}
	w.ops = append(w.ops, p)
	w.opsSize += p.encodedSize()
	return nil
}

// isLargeGroup reports whether a base record contains more entries than oxbow now puts into one record. Before
// 2026-12, entries of up to 1 MiB shared a record.
func isLargeGroup(ops []loggedOp) bool {
	size := 0
	for i := range ops {
		size += ops[i].encodedSize()
	}
	return len(ops) > 1 && size > maxGroupBytes
}

// writeOpIDs writes the records that precede the entries. They contain the op IDs and the ID of the next new entry.
func (w *baseWriter) writeOpIDs() error {
	for len(w.opIDs) > 0 {
		n := min(len(w.opIDs), opIDsPerRecord)
		if err := w.writeBody(&recordBody{nextID: w.nextID, seenOpIDs: w.opIDs[:n]}); err != nil {
			return err
		}
		w.opIDs = w.opIDs[n:]
	}
	return nil
}

func (w *baseWriter) writeEntries() error {
	v := &recordBody{ops: w.ops}
	w.ops, w.opsSize = nil, 0
	return w.writeBody(v)
}

func (w *baseWriter) writeBody(v *recordBody) error {
	b := appendBase(nil, v)
	w.bodyHash.Write(b)
	return w.emitRecord(b, v.ops)
}

// close writes the remaining records and returns the hash of the base.
func (w *baseWriter) close() (sum [32]byte, err error) {
	if err := w.writeOpIDs(); err != nil {
		return sum, err
	}
	if len(w.ops) > 0 {
		if err := w.writeEntries(); err != nil {
			return sum, err
		}
	}
	if w.nextID > 0 {
		err = w.writeBody(&recordBody{nextID: w.nextID})
	}
	w.bodyHash.Sum(sum[:0])
	return sum, err
}

// writeStateAsBase passes base records with the entries of a state to emit. It returns the hash of this base.
func writeStateAsBase(st *state, emit func(b []byte) error) (sum [32]byte, err error) {
	w := newBaseWriter(st.nextID, st.rememberedOpIDs(), func(b []byte, _ []loggedOp) error { return emit(b) })
	for _, e := range st.changedByID {
		if err := w.addEntry(e); err != nil {
			return sum, err
		}
	}
	return w.close()
}
