// This file defines the possible effects of a crash on one write.

package crashfs

import (
	"slices"
	"strconv"
)

// opFate tells what remains of a pending write or truncation after a crash.
type opFate struct {
	form fateKind
	// number of bytes of the write before the cut, if only a part of the write remains (fateFirstPart, fateSizeOnly
	// and fateLastPart)
	size int
}

type fateKind uint8

const (
	fateLost fateKind = iota
	fateKept          // After the crash, the file contains all bytes of the write.
	// After the crash, only the first bytes of the write are in the file, and the file ends after them.
	fateFirstPart
	// After the crash, only the first bytes of the write are in the file, or none. The file has its full new length.
	fateSizeOnly
	// After the crash, the first bytes of the write are missing. The file has its full new length.
	fateLastPart
)

// describe returns a text that says what the crash did to the operation op, such as "lost write 7".
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

// applyTo changes the bytes of a file in buf as the write or truncation op does, if a crash leaves it as f says. It
// may write to buf. It returns buf or a new slice.
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

// endOffset returns where the bytes of the write op end in the file, if a crash leaves the write as f says. The file
// has at least this length then. It returns 0 if the operation was lost or is a truncation.
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
	sectorSize = 512 // number of bytes that a disk writes completely or not at all
	// A write of at most this many bytes may end after every third byte. Trying every byte would take too long.
	maxFineBytes = 256
	// A write of more than maxFineBytes bytes may end only so near to its start or its end, or at the end of a sector.
	edgeByteCount       = 64
	maxSectorBoundaries = 32 // maximum number of sector boundaries at which one write is cut
)

// possibleFates returns the ways in which a crash may leave only a part of a write in the file.
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
