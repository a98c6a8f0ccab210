// Places in large records: where the op of each entry lies in a record that was checked,
// so that one entry is read without the rest.

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

// placesLeast is the bytes of a body from which on places are kept. Less is read, and
// checked, in the time that one call takes.
const placesLeast = 8 << 10

// opPlaces are the places of a record.
type opPlaces struct {
	offset int64 // of the record
	seq    uint64
	source store.Source // its time is that of the record
	ops    []opPlace    // by row, rising
}

// opPlace is where in a body the op lies that left the entry of a row as it is.
type opPlace struct {
	row, at, size uint32
	sum           uint32 // of its bytes, when the record was checked
}

// placesOf returns the places of a record that was checked, nil for a small one. Places of
// entries that no row of rowOf leads to are left out: all places are no more than the rows.
func placesOf(r *wal.Record, rowOf func(id uint64) (row int, ok bool)) *opPlaces {
	if len(r.Body) < placesLeast {
		return nil
	}
	p := &opPlaces{offset: r.Offset, seq: r.Seq}
	err := wire.EachPart(r.Body, func(num, from, at, end int) error {
		switch num {
		case 0:
			return wire.ErrShort // it is read as a whole
		case fieldSource:
			return wire.Each(string(r.Body[from:end]), func(f wire.Field) (err error) {
				p.source, err = decodeSource(f)
				return err
			})
		case fieldOp:
			op := r.Body[at:end]
			if row, ok := rowOf(opID(op)); ok {
				p.ops = append(p.ops, opPlace{uint32(row), uint32(at), uint32(len(op)), crc32.Checksum(op, castagnoli)})
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	p.source.Time = time.Unix(0, r.Time).UTC()
	slices.Reverse(p.ops) // of several versions in one record, the last counts
	slices.SortStableFunc(p.ops, func(a, b opPlace) int { return cmp.Compare(a.row, b.row) })
	p.ops = slices.Clone(slices.CompactFunc(p.ops, func(a, b opPlace) bool { return a.row == b.row })) // without the room to grow
	return p
}

// entry returns the entry of a row, nil where its place is not kept, or where its bytes
// are not those that were checked.
func (p *opPlaces) entry(log *wal.Log, row int) *store.Entry {
	i, ok := slices.BinarySearchFunc(p.ops, uint32(row), func(o opPlace, row uint32) int { return cmp.Compare(o.row, row) })
	if !ok {
		return nil
	}
	op := make([]byte, p.ops[i].size)
	if err := log.BodyAt(p.offset, int64(p.ops[i].at), op); err != nil || crc32.Checksum(op, castagnoli) != p.ops[i].sum {
		return nil
	}
	v, err := decodePut(wire.Field{Num: fieldOp, Bytes: true, Str: string(op)})
	if err != nil || v.verb == store.VerbRemove {
		return nil
	}
	e := v.entry
	if e.Version == 0 { // else it is of a base, and says so itself
		e.Version = p.seq
		e.Updated = p.source.Time
		e.Source = p.source
	}
	return e
}
