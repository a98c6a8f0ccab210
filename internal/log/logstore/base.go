// This file writes a log's base: the records at the log's beginning that contain the entries at the time of the last
// compaction.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// A compacted log begins with records of the kept entries. maxBaseRecordEntryBytes is the approximate size of the
// entries in one such record. A longer entry gets a record of its own. Damage to a record destroys all entries in it,
// so large records are risky. But each record needs 72 more bytes: for 20-byte entries, one record for each entry would
// double the size, while groups of this size add only 14 %.
const maxBaseRecordEntryBytes = 1 << 10

// opIDsPerBaseRecord is the maximum number of op IDs in each record with which a compacted log begins.
const opIDsPerBaseRecord = 256

// initialEntryWriter creates the records with which a compacted log begins. They contain the kept entries. Each record
// can be decoded without any other record.
type initialEntryWriter struct {
	emitRecord       func(b []byte, ops []loggedOp) error
	recordBodiesHash hash.Hash // hash of all records' bodies
	nextEntryID      uint64
	pendingOpIDs     []opIDWithChange // op IDs that are not written in a record yet
	pendingOps       []loggedOp       // entries that are not written in a record yet
	pendingOpsSize   int              // approximate encoded size of pendingOps, in bytes
}

// newInitialEntryWriter returns a writer of the records with which a compacted log begins. It passes each record's
// body, and the ops that the record contains, to emitRecord. nextEntryID is the ID of the next new entry. opIDs
// contains the IDs that callers gave to earlier calls. The records contain these IDs, so that a repeated call is
// recognized.
func newInitialEntryWriter(
	nextEntryID uint64,
	opIDs []opIDWithChange,
	emitRecord func(b []byte, ops []loggedOp) error,
) *initialEntryWriter {
	return &initialEntryWriter{
		emitRecord:       emitRecord,
		recordBodiesHash: sha256.New(),
		nextEntryID:      nextEntryID,
		pendingOpIDs:     opIDs,
	}
}

// addEntry adds an entry to the records with which a compacted log begins. It removes passwords and keys from the
// entry's source. In a logged change, they cannot be removed, because the hash chain covers the source.
func (w *initialEntryWriter) addEntry(e *store.Entry) error {
	if err := w.writeOpIDs(); err != nil {
		return err
	}
	if source := sourceWithoutSecrets(e.Source); source != e.Source {
		screened := *e
		screened.Source = source
		e = &screened
	}
	p := loggedOp{verb: store.VerbAdd, entry: e}
	if len(w.pendingOps) > 0 && w.pendingOpsSize+p.encodedSize() > maxBaseRecordEntryBytes {
		if err := w.writeEntries(); err != nil {
			return err
		}
	}
	w.pendingOps = append(w.pendingOps, p)
	w.pendingOpsSize += p.encodedSize()
	return nil
}

// isLargeBaseRecord reports whether a record with these ops is larger than the records that oxbow writes now: whether
// it has more than one op, and together they need more than maxBaseRecordEntryBytes bytes. Compactions before 2026-12
// wrote such records, with up to 1 MiB of entries.
func isLargeBaseRecord(ops []loggedOp) bool {
	size := 0
	for i := range ops {
		size += ops[i].encodedSize()
	}
	return len(ops) > 1 && size > maxBaseRecordEntryBytes
}

// writeOpIDs writes the pending op IDs in records that precede the entries. Each of these records also contains the
// next new entry's ID. writeOpIDs writes nothing if no op IDs are pending.
func (w *initialEntryWriter) writeOpIDs() error {
	for len(w.pendingOpIDs) > 0 {
		n := min(len(w.pendingOpIDs), opIDsPerBaseRecord)
		if err := w.writeBody(&recordBody{nextEntryID: w.nextEntryID, seenOpIDs: w.pendingOpIDs[:n]}); err != nil {
			return err
		}
		w.pendingOpIDs = w.pendingOpIDs[n:]
	}
	return nil
}

func (w *initialEntryWriter) writeEntries() error {
	v := &recordBody{ops: w.pendingOps}
	w.pendingOps, w.pendingOpsSize = nil, 0
	return w.writeBody(v)
}

func (w *initialEntryWriter) writeBody(v *recordBody) error {
	b := appendBaseRecordBody(nil, v)
	w.recordBodiesHash.Write(b)
	return w.emitRecord(b, v.ops)
}

// close writes the remaining records, and returns a hash of all records that the writer has written.
func (w *initialEntryWriter) close() (sum [32]byte, err error) {
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
	w.recordBodiesHash.Sum(sum[:0])
	return sum, err
}

// writeStateAsInitialEntries passes records with all entries of the state st to the function emit. The state must not
// use a snapshot, so that entriesNotInSnapshotByID contains all entries. The records also contain the next entry ID and
// the remembered op IDs. A rewritten log begins with these records. The result is a hash of the records.
func writeStateAsInitialEntries(st *state, emit func(b []byte) error) (sum [32]byte, err error) {
	w := newInitialEntryWriter(
		st.nextEntryID,
		st.rememberedOpIDs(),
		func(b []byte, _ []loggedOp) error { return emit(b) },
	)
	for _, e := range st.entriesNotInSnapshotByID {
		if err := w.addEntry(e); err != nil {
			return sum, err
		}
	}
	return w.close()
}
