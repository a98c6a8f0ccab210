// This file defines the possible effects of a crash on one write.

package crashfs

import (
	"slices"
	"strconv"
)

// opFate tells what remains of a pending write or truncation after a crash.
type opFate struct {
	form fateKind
	// Offset in the bytes of the write at which the write is cut, for fateFirstPart, fateSizeOnly and fateLastPart.
	size int
}

type fateKind uint8

const (
	fateLost      fateKind = iota
	fateKept               // All bytes of the write remain.
	fateFirstPart          // Only the first bytes remain, and the file ends after them.
	fateSizeOnly           // Only the first bytes remain, perhaps none, but the file has its full new length.
	fateLastPart           // The first bytes are missing, but the file has its full new length.
)

// describe returns the part of a label that tells what happened to the operation op.
func (f opFate) describe(op string) string {
	switch f.form {
	case fateLost:
		return "lost " + op
	case fateFirstPart:
		return "only the first " + strconv.Itoa(f.size) + " bytes of " + op
	case fateSizeOnly:
		if f.size == 0 {
			return "only the length of " + op
		}
		return "the length and the first " + strconv.Itoa(f.size) + " bytes of " + op
	case fateLastPart:
		return "all but the first " + strconv.Itoa(f.size) + " bytes of " + op
	}
	return "kept " + op
}

// applyTo changes the bytes of a file as the operation does with this fate. It may write to buf. It returns buf or a
// new slice.
func (op *dataOp) applyTo(buf []byte, f opFate) []byte {
	if f.form == fateLost {
		return buf
	}
	if op.op.Kind == Truncate {
		return resizeBuffer(buf, op.op.Off)
	}
	from, to := 0, len(op.data)
	switch f.form {
	case fateFirstPart, fateSizeOnly:
		to = f.size
	case fateLastPart:
		from = f.size
	}
	if end := op.endOffset(f); end > int64(len(buf)) {
		buf = resizeBuffer(buf, end)
	}
	copy(buf[op.op.Off+int64(from):], op.data[from:to])
	return buf
}

// endOffset returns the length that the file has at least after the operation with this fate. It returns 0 if the
// operation does not extend the file.
func (op *dataOp) endOffset(f opFate) int64 {
	switch {
	case f.form == fateLost || op.op.Kind == Truncate:
		return 0
	case f.form == fateFirstPart:
		return op.op.Off + int64(f.size)
	}
	return op.op.Off + int64(len(op.data))
}

// resizeBuffer returns buf with the length size. New bytes are zero.
func resizeBuffer(buf []byte, size int64) []byte {
	old := len(buf)
	if int(size) <= old {
		return buf[:size:size] // The capacity is limited, because another slice may use the bytes after it.
	}
	buf = slices.Grow(buf, int(size)-old)[:size]
	clear(buf[old:])
	return buf
}

const (
	sectorSize          = 512 // number of bytes that a disk writes completely or not at all
	maxFineBytes        = 256 // A write of at most this many bytes is cut at every third byte.
	edgeByteCount       = 64  // A longer write is cut only within this many bytes of each end.
	maxSectorBoundaries = 32  // maximum number of sector boundaries at which one write is cut
)

// possibleFates returns the fates in which only a part of the write remains.
func (op *dataOp) possibleFates() []opFate {
	size := len(op.data)
	if op.op.Kind != Write || size == 0 {
		return nil
	}
	fates := []opFate{{fateSizeOnly, 0}}
	sectors := op.sectorBoundaries()
	add := func(at int, forms ...fateKind) {
		if at <= 0 || at >= size {
			return
		}
		for _, f := range forms {
			fates = append(fates, opFate{f, at})
		}
	}
	add(1, fateFirstPart)
	for t := 3; t < size; t += 3 {
		isAtEdge := t <= edgeByteCount || t >= size-edgeByteCount
		if isAtEdge || size <= maxFineBytes {
			add(t, fateFirstPart)
		}
	}
	add(size-1, fateFirstPart)
	for _, t := range sectors {
		add(t, fateFirstPart, fateSizeOnly, fateLastPart)
	}
	for _, t := range []int{1, 4, 8, 16, 32, size / 2, size - 1} {
		add(t, fateSizeOnly, fateLastPart)
	}
	return fates
}

// sectorBoundaries returns offsets in the write's bytes at which a sector of the file begins. If more than
// maxSectorBoundaries sectors begin there, it returns maxSectorBoundaries offsets, evenly spread.
func (op *dataOp) sectorBoundaries() []int {
	first := sectorSize - int(op.op.Off%sectorSize)
	count := 0
	if first < len(op.data) {
		count = (len(op.data)-1-first)/sectorSize + 1
	}
	step := max(1, (count+maxSectorBoundaries-1)/maxSectorBoundaries)
	var at []int
	for i := 0; i < count; i += step {
		at = append(at, first+i*sectorSize)
	}
	return at
}
