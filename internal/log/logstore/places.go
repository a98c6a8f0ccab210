// This file stores where entries are in large records, so that an entry can be read without the
// rest of its record.

package logstore

import (
	"cmp"
	"hash/crc32"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// minIndexedBody is the minimum body size, in bytes, for which positions are stored. A
// smaller body can be read and checked as a whole in the time of a single system call.
const minIndexedBody = 8 << 10

// opPositions has the positions of the entries in a record.
type opPositions struct {
	offset int64 // offset of the record
	seq    uint64
	source store.Source // source of the record's change; its Time is the time of the record
	ops    []opPosition // in ascending order of rows
}

// opPosition is the position in a body of the op that wrote a row's entry.
type opPosition struct {
	row, bodyOffset, size uint32
	checksum              uint32 // checksum of the entry's bytes, computed when the record was checked
}

// findOpPositions returns the positions in a record that was checked, or nil for a small record.
// Entries without a row are left out, so that there are at most as many positions as rows.
func findOpPositions(r *wal.Record, rowOf func(id uint64) (row int, ok bool)) *opPositions {
	if len(r.Body) < minIndexedBody {
		return nil
	}
	p := &opPositions{offset: r.Offset, seq: r.Seq}
	err := wire.EachFieldOffsets(r.Body, func(num, from, at, end int) error {
		switch num {
		case 0:
			return wire.ErrTruncated // the record must be read as a whole
		case fieldSource:
			return wire.EachField(string(r.Body[from:end]), func(f wire.Field) (err error) {
				p.source, err = decodeSource(f)
				return err
			})
		case fieldOp:
			op := r.Body[at:end]
			if row, ok := rowOf(entryIDOfOp(op)); ok {
				p.ops = append(
					p.ops,
					opPosition{uint32(row), uint32(at), uint32(len(op)), crc32.Checksum(op, crcTable)},
				)
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	p.source.Time = time.Unix(0, r.Time).UTC()
	slices.Reverse(p.ops) // if a record has several versions of an entry, keep the last version
	slices.SortStableFunc(p.ops, func(a, b opPosition) int { return cmp.Compare(a.row, b.row) })
	// clone to release spare capacity
	p.ops = slices.Clone(slices.CompactFunc(p.ops, func(a, b opPosition) bool { return a.row == b.row }))
	return p
}

// readEntry returns a row's entry. It returns nil if the entry's position is unknown, or if the bytes
// there have changed since they were checked.
func (p *opPositions) readEntry(log *wal.Log, row int) *store.Entry {
	i, ok := slices.BinarySearchFunc(p.ops, uint32(row), func(o opPosition, row uint32) int {
		return cmp.Compare(o.row, row)
	})
	if !ok {
		return nil
	}
	op := make([]byte, p.ops[i].size)
	if err := log.BodyAt(p.offset, int64(p.ops[i].bodyOffset), op); err != nil ||
		crc32.Checksum(op, crcTable) != p.ops[i].checksum {
		return nil
	}
	v, err := decodeOp(wire.Field{Number: fieldOp, IsBytes: true, Text: string(op)})
	if err != nil || v.verb == store.VerbRemove {
		return nil
	}
	e := v.entry
	if e.Version == 0 { // entries of a base have these fields already
		e.Version = p.seq
		e.Updated = p.source.Time
		e.Source = p.source
	}
	return e
}
