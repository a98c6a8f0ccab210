// This file records where the entries in a large record are, so that an entry can be read without the rest of the
// record.

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

// minIndexedBodyBytes is the minimum size, in bytes, of a log record's body for which the entries' positions in the
// body are recorded. A smaller body can be read and checked as a whole in the time of a single system call.
const minIndexedBodyBytes = 8 << 10

// opPositions contains the positions of the entries in one record.
type opPositions struct {
	recordOffset int64 // log offset of the record that contains the entries
	seq          uint64
	source       store.Source // source of the change; its Time is the record's time
	// positions of the entries in the record, ordered by the entries' rows in the snapshot
	positionsInRecord []opPosition
}

// opPosition describes where the log contains the op that wrote an entry. The number snapshotRow is the entry's row in
// the snapshot.
type opPosition struct {
	snapshotRow, bodyOffset, opSize uint32
	checksum                        uint32 // checksum of the op's bytes, computed when the whole record was checked
}

// findOpPositions finds out where a record contains each entry that has a row in the snapshot. The checksum of the
// whole record must have been verified. The result is nil for a small record, because it can be read as a whole.
func findOpPositions(r *wal.Record, findRow func(id uint64) (row int, ok bool)) *opPositions {
	if len(r.Body) < minIndexedBodyBytes {
		return nil
	}
	p := &opPositions{recordOffset: r.FileOffset, seq: r.Seq}
	err := wire.EachFieldOffsets(r.Body, func(num, from, at, end int) error {
		switch num {
		case 0: // The rest of the body begins with a numeric field. It usually contains no op.
			return rejectOpFields(r.Body[from:end])
		case recordFieldSource:
			return wire.EachField(string(r.Body[from:end]), func(f wire.Field) (err error) {
				p.source, err = decodeSource(f)
				return err
			})
		case recordFieldOp:
			op := r.Body[at:end]
			if row, ok := findRow(entryIDOfOp(op)); ok {
				p.positionsInRecord = append(
					p.positionsInRecord,
					opPosition{uint32(row), uint32(at), uint32(len(op)), crc32.Checksum(op, crcTable)},
				)
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	p.source.Time = time.Unix(0, r.TimeUnixNano).UTC()
	slices.Reverse(p.positionsInRecord) // If a record has several versions of an entry, keep the last version.
	slices.SortStableFunc(
		p.positionsInRecord,
		func(a, b opPosition) int { return cmp.Compare(a.snapshotRow, b.snapshotRow) },
	)
	// Clone the slice, so that its spare capacity is freed.
	p.positionsInRecord = slices.Clone(
		slices.CompactFunc(p.positionsInRecord, func(a, b opPosition) bool { return a.snapshotRow == b.snapshotRow }),
	)
	return p
}

// rejectOpFields returns wire.ErrTruncatedField if the given fields of a record's body contain the source of the
// change, or contain an op. An op is a change of one entry. The fields are the end of the body, in which the positions
// of ops cannot be determined. After an error, the caller must decode the whole record.
func rejectOpFields(fields []byte) error {
	return wire.EachField(string(fields), func(f wire.Field) error {
		switch f.FieldNumber {
		case recordFieldSource, recordFieldOp, recordFieldErasedOp:
			return wire.ErrTruncatedField
		}
		return nil
	})
}

// readEntry reads one entry from the log. The argument row is the entry's row in the snapshot. The positions in p come
// from an earlier check of the whole record. readEntry returns nil if p contains no position for this row, or if the
// bytes at the position have changed since that check. It also returns nil if the op at the position cannot be decoded
// or removes the entry.
func (p *opPositions) readEntry(log *wal.Log, row int) *store.Entry {
	i, ok := slices.BinarySearchFunc(p.positionsInRecord, uint32(row), func(o opPosition, row uint32) int {
		return cmp.Compare(o.snapshotRow, row)
	})
	if !ok {
		return nil
	}
	op := make([]byte, p.positionsInRecord[i].opSize)
	if err := log.ReadBodyAt(p.recordOffset, int64(p.positionsInRecord[i].bodyOffset), op); err != nil ||
		crc32.Checksum(op, crcTable) != p.positionsInRecord[i].checksum {
		return nil
	}
	v, err := decodeOp(wire.Field{FieldNumber: recordFieldOp, IsBytes: true, BytesValue: string(op)})
	if err != nil || v.verb == store.VerbRemove {
		return nil
	}
	e := v.entry
	// The record stores Version, Updated and Source once for all ops of the change. An entry that a compaction copied
	// into the record has its own values for these fields, which stay unchanged.
	if e.Version == 0 {
		e.Version = p.seq
		e.Updated = p.source.Time
		e.Source = p.source
	}
	return e
}
