// Positions in the history of the default store, and what changed since one.

package oxbow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
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

// position returns the position of the log. logmu and mu are held.
func (d *db) position() Position {
	if !d.log.Exists() {
		return ""
	}
	p := position{log: d.log.Header().ID, seq: d.log.Seq(), chain: d.log.Chain()}
	if n := len(d.offsets); n > 0 {
		p.offset = d.offsets[n-1]
	} else if d.st.base != nil {
		p.offset = d.st.base.head.offset
	}
	return p.encode()
}

// Position implements [Sequencer].
func (d *db) Position(ctx context.Context) (Position, error) {
	if err := d.Refresh(ctx); err != nil {
		return "", err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.recent.pos, nil
}

// Since implements [Sequencer].
func (d *db) Since(ctx context.Context, p Position) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		if err := d.ready(ctx); err != nil {
			yield(Delta{}, err)
			return
		}
		d.mu.RLock()
		steps, ok := d.recent.since(p)
		last, _ := decodePosition(d.recent.pos)
		d.mu.RUnlock()
		if !ok {
			err := d.readSince(p, last.seq, func(delta Delta) bool { return yield(delta, nil) })
			if err != nil && err != errStop {
				yield(Delta{}, err)
			}
			return
		}
		for _, s := range steps {
			for _, delta := range s.deltas {
				if !yield(delta, nil) {
					return
				}
			}
		}
	}
}

// readSince reads from the log what changed after s, up to and including the
// change last.
func (d *db) readSince(s Position, last uint64, yield func(Delta) bool) error {
	unknown := fmt.Errorf("%w: %s", ErrPosition, d.path)
	p, ok := decodePosition(s)
	if !ok && s != "" || p.seq > last {
		return unknown
	}
	log, err := d.another(false)
	if err != nil {
		return err
	}
	defer log.Close()
	if s == "" {
		p = position{log: log.Header().ID, chain: wal.FirstChain(log.Header().ID)} // before the first change
	}
	if !log.Exists() || log.Header().ID != p.log {
		return unknown
	}
	switch err := log.Jump(p.offset, p.seq, p.chain, 0); {
	case errors.As(err, new(*wal.CorruptError)):
		return unknown
	case err != nil:
		return d.describe(err)
	}
	if p.seq == last {
		return nil
	}
	_, err = d.replay(log, &deltaReader{d, yield, unknown}, nil, last)
	return err
}

// deltaReader yields the deltas of changes whose state is not known.
type deltaReader struct {
	db      *db
	yield   func(Delta) bool
	unknown error
}

// applyRecord implements applier.
func (t *deltaReader) applyRecord(r *wal.Record, v *body) ([]Delta, error) {
	if rewrites(r, v) {
		return nil, t.unknown
	}
	v.source.Time = time.Unix(0, r.Time).UTC()
	for _, p := range v.ops {
		deltas := []Delta{{ID: p.entry.ID, Entry: p.entry}}
		switch {
		case p.verb == VerbRemove:
			deltas[0].Entry = nil
		case p.verb == VerbRestore && p.prev != 0:
			// An undo may put an entry in the place of another of that name.
			before, err := t.db.versionsIn(p.prev, p.entry.Name)
			if err != nil {
				return nil, err
			}
			for _, v := range before {
				if v.Entry.ID != p.entry.ID {
					deltas = slices.Insert(deltas, 0, Delta{ID: v.Entry.ID})
				}
			}
		}
		p.entry.Version, p.entry.Updated, p.entry.Source = r.Seq, v.source.Time, v.source
		for _, delta := range deltas {
			if !t.yield(delta) {
				return nil, errStop
			}
		}
	}
	return nil, nil
}
