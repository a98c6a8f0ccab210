// Positions in the history of the default store, and the last changes to it.

package oxbow

import (
	"encoding/binary"
	"slices"
)

// position is a [Position] of the default store: a change in the log. Its
// bytes, integers little-endian:
//
//	offset size field
//	     0   16 identity of the log
//	    16    8 sequence number of the change, or of the base
//	    24    8 offset of its record in the file, 0 for the base
//	    32   32 chain at the change
type position struct {
	log    [16]byte
	seq    uint64
	offset int64
	chain  [32]byte
}

const positionSize = 64

func (p position) encode() Position {
	var b [positionSize]byte
	copy(b[:], p.log[:])
	binary.LittleEndian.PutUint64(b[16:], p.seq)
	binary.LittleEndian.PutUint64(b[24:], uint64(p.offset))
	copy(b[32:], p.chain[:])
	return Position(b[:])
}

func decodePosition(s Position) (p position, ok bool) {
	if len(s) != positionSize {
		return p, false
	}
	b := []byte(s)
	return position{log: [16]byte(b), seq: binary.LittleEndian.Uint64(b[16:]),
		offset: int64(binary.LittleEndian.Uint64(b[24:])), chain: [32]byte(b[32:])}, true
}

// Precedes reports whether both places are of one store and p is not after q. A
// compaction, a redaction or a restored backup may have taken p out of the
// history since.
func (p Position) Precedes(q Position) bool {
	was, ok := decodePosition(p)
	is, there := decodePosition(q)
	return ok && there && was.log == is.log && was.seq <= is.seq
}

// mostRecent is the number of deltas that are kept in memory for [db.Since].
const mostRecent = 4096

// recent is the last position of the state and the deltas that led there.
type recent struct {
	pos   Position // "" while the log has no file
	steps []step
	size  int // deltas in steps
}

// step is the deltas between two positions: before and that of the next step.
type step struct {
	before Position
	deltas []Delta
}

// add moves the position to p.
func (r *recent) add(p Position, deltas []Delta) {
	if p == r.pos {
		return
	}
	r.steps = append(r.steps, step{r.pos, deltas})
	r.size += len(deltas)
	r.pos = p
	if r.size <= mostRecent && len(r.steps) <= mostRecent {
		return
	}
	n := 0
	for ; n < len(r.steps) && (r.size > mostRecent/2 || len(r.steps)-n > mostRecent/2); n++ {
		r.size -= len(r.steps[n].deltas)
	}
	r.steps = slices.Clone(r.steps[n:])
}

// since returns the steps that follow p, and false where they are not in
// memory.
func (r *recent) since(p Position) ([]step, bool) {
	if p == r.pos {
		return nil, true
	}
	for i := len(r.steps) - 1; i >= 0; i-- {
		if r.steps[i].before == p {
			return r.steps[i:], true
		}
	}
	return nil, false
}
