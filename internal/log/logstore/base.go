// This file writes a log's base: the records at the log's beginning that contain the entries at the time of the last
// compaction.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// maxEntryGroupBytes is the approximate size of the entries in one base record. A longer entry gets a record of its
// own. Damage to a record destroys all entries in it, but each record needs 72 more bytes. For entries of 20 bytes,
// a base is 14 % larger than with large records. With one record for each entry, it would be 104 % larger.
const maxEntryGroupBytes = 1 << 10

// opIDsPerRecord is the maximum number of op IDs in a base record.
const opIDsPerRecord = 256

// baseWriter creates the records of a base. Each record can be decoded alone.
type baseWriter struct {
	emitRecord     func(b []byte, ops []loggedOp) error
	bodyHash       hash.Hash // hash of all records' bodies
	nextEntryID    uint64
	pendingOpIDs   []seenOpID // op IDs that are not in a record yet
	pendingOps     []loggedOp // entries that are not in a record yet
	pendingOpsSize int        // approximate encoded size of ops, in bytes
}

// newBaseWriter returns a writer of base records. It passes each record and the record's entries to emit. nextEntryID
// is the ID of the next new entry, and opIDs are the op IDs that the base remembers.
func newBaseWriter(nextEntryID uint64, opIDs []seenOpID, emitRecord func(b []byte, ops []loggedOp) error) *baseWriter {
	return &baseWriter{emitRecord: emitRecord, bodyHash: sha256.New(), nextEntryID: nextEntryID, pendingOpIDs: opIDs}
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
	if len(w.pendingOps) > 0 && w.pendingOpsSize+p.encodedSize() > maxEntryGroupBytes {
		if err := w.writeEntries(); err != nil {
			return err
		}
	}
	w.pendingOps = append(w.pendingOps, p)
	w.pendingOpsSize += p.encodedSize()
	return nil
}

// isLargeGroup reports whether a base record contains more entries than oxbow now puts into one record. Before
// 2026-12, entries of up to 1 MiB shared a record.
func isLargeGroup(ops []loggedOp) bool {
	size := 0
	for i := range ops {
		size += ops[i].encodedSize()
	}
	return len(ops) > 1 && size > maxEntryGroupBytes
}

// writeOpIDs writes the records that precede the entries. They contain the op IDs and the ID of the next new entry.
func (w *baseWriter) writeOpIDs() error {
	for len(w.pendingOpIDs) > 0 {
		n := min(len(w.pendingOpIDs), opIDsPerRecord)
		if err := w.writeBody(&recordBody{nextEntryID: w.nextEntryID, seenOpIDs: w.pendingOpIDs[:n]}); err != nil {
			return err
		}
		w.pendingOpIDs = w.pendingOpIDs[n:]
	}
	return nil
}

func (w *baseWriter) writeEntries() error {
	v := &recordBody{ops: w.pendingOps}
	w.pendingOps, w.pendingOpsSize = nil, 0
	return w.writeBody(v)
}

func (w *baseWriter) writeBody(v *recordBody) error {
	b := appendBaseBody(nil, v)
	w.bodyHash.Write(b)
	return w.emitRecord(b, v.ops)
}

// close writes the remaining records and returns the hash of the base.
func (w *baseWriter) close() (sum [32]byte, err error) {
	if err := w.writeOpIDs(); err != nil {
		return sum, err
	}
	if len(w.pendingOps) > 0 {
		if err := w.writeEntries(); err != nil {
			return sum, err
		}
	}
	if w.nextEntryID > 0 {
		err = w.writeBody(&recordBody{nextEntryID: w.nextEntryID})
	}
	w.bodyHash.Sum(sum[:0])
	return sum, err
}

// writeStateAsBase passes base records with the entries of a state to emit. It returns the hash of this base.
func writeStateAsBase(st *state, emit func(b []byte) error) (sum [32]byte, err error) {
	w := newBaseWriter(st.nextEntryID, st.rememberedOpIDs(), func(b []byte, _ []loggedOp) error { return emit(b) })
	for _, e := range st.changedByID {
		if err := w.addEntry(e); err != nil {
			return sum, err
		}
	}
	return w.close()
}
