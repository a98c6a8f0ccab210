// The base of a log: records of the entries that it begins with.

package logstore

import (
	"crypto/sha256"
	"hash"

	"github.com/oxbow-memory/oxbow/store"
)

// baseBytes is about how many bytes of entries one record of a base holds.
const baseBytes = 1 << 20

// baseWriter makes the records of a base.
type baseWriter struct {
	emit func(b []byte, ops []put) error
	hash hash.Hash // of all bodies together
	body *body
	size int
}

func newBaseWriter(first *body, emit func(b []byte, ops []put) error) *baseWriter {
	return &baseWriter{emit: emit, hash: sha256.New(), body: first}
}

func (w *baseWriter) add(e *store.Entry) error {
	w.body.ops = append(w.body.ops, put{verb: store.VerbAdd, entry: e})
	if w.size += len(e.Content) + len(e.Name) + 100; w.size > baseBytes {
		return w.flush()
	}
	return nil
}

func (w *baseWriter) flush() error {
	b := appendBase(nil, w.body)
	w.hash.Write(b)
	ops := w.body.ops
	w.body, w.size = &body{}, 0
	return w.emit(b, ops)
}

// close ends the base and returns its hash.
func (w *baseWriter) close() (sum [32]byte, err error) {
	if len(w.body.ops) > 0 || w.body.nextID > 0 {
		err = w.flush()
	}
	w.hash.Sum(sum[:0])
	return sum, err
}

// baseBodies encodes the entries of a state, and returns the hash of all the
// bodies together.
func baseBodies(st *state) (bodies [][]byte, sum [32]byte) {
	w := newBaseWriter(&body{nextID: st.nextID, seen: st.seenIDs()}, func(b []byte, _ []put) error {
		bodies = append(bodies, b)
		return nil
	})
	for _, e := range st.order {
		_ = w.add(e) // emit has no error
	}
	sum, _ = w.close()
	return bodies, sum
}
