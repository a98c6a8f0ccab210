// This file defines what a crash can do to one write.

package crashfs

import (
	"slices"
	"strconv"
)

// writeFate tells what remains of a pending write or truncation after a crash.
type writeFate struct {
	form fateForm
	size int // offset in the bytes of the write at which the write is cut, for fateHead, fateGrown and fateTail
}

type fateForm uint8

const (
	fateLost  fateForm = iota
	fateKept           // All bytes of the write remain.
	fateHead           // Only the first bytes remain, and the file ends after them.
	fateGrown          // Only the first bytes remain, perhaps none, but the file has its full new length.
	fateTail           // The first bytes are missing, but the file has its full new length.
)

// describe returns the part of a label that tells what happened to the operation op.
func (f writeFate) describe(op string) string {
	switch f.form {
	case fateLost:
		return "lost " + op
	case fateHead:
		return "only the first " + strconv.Itoa(f.size) + " bytes of " + op
	case fateGrown:
		if f.size == 0 {
			return "only the length of " + op
		}
		return "the length and the first " + strconv.Itoa(f.size) + " bytes of " + op
	case fateTail:
		return "all but the first " + strconv.Itoa(f.size) + " bytes of " + op
	}
	return "kept " + op
}

// applyTo changes the bytes of a file as the operation does with this fate. It may write to buf. It returns buf or a
// new slice.
func (op *dataOp) applyTo(buf []byte, f writeFate) []byte {
	if f.form == fateLost {
		return buf
	}
	if op.op.Kind == Truncate {
		return resizeBuffer(buf, op.op.Off)
	}
	from, to := 0, len(op.data)
	switch f.form {
	case fateHead, fateGrown:
		to = f.size
	case fateTail:
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
func (op *dataOp) endOffset(f writeFate) int64 {
	switch {
	case f.form == fateLost || op.op.Kind == Truncate:
		return 0
	case f.form == fateHead:
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
	fineLimit  = 256 // A write of at most this many bytes is cut at every third byte.
	edgeCount  = 64  // A longer write is cut only within this many bytes of each end.
	maxSectors = 32  // maximum number of sector boundaries at which one write is cut
)

// possibleFates returns the fates in which only a part of the write remains.
func (op *dataOp) possibleFates() []writeFate {
	size := len(op.data)
	if op.op.Kind != Write || size == 0 {
		return nil
	}
	fates := []writeFate{{fateGrown, 0}}
	sectors := op.sectorBoundaries()
	add := func(at int, forms ...fateForm) {
		if at <= 0 || at >= size {
			return
		}
		for _, f := range forms {
			fates = append(fates, writeFate{f, at})
		}
	}
	add(1, fateHead)
	for t := 3; t < size; t += 3 {
		isAtEdge := t <= edgeCount || t >= size-edgeCount
		if isAtEdge || size <= fineLimit {
			add(t, fateHead)
		}
	}
	add(size-1, fateHead)
	for _, t := range sectors {
		add(t, fateHead, fateGrown, fateTail)
	}
	for _, t := range []int{1, 4, 8, 16, 32, size / 2, size - 1} {
		add(t, fateGrown, fateTail)
	}
	return fates
}

// sectorBoundaries returns offsets in the bytes of the write at which a sector of the file begins. If there are more
// than maxSectors, it returns that many of them, evenly spread.
func (op *dataOp) sectorBoundaries() []int {
	first := sectorSize - int(op.op.Off%sectorSize)
	count := 0
	if first < len(op.data) {
		count = (len(op.data)-1-first)/sectorSize + 1
	}
	step := max(1, (count+maxSectors-1)/maxSectors)
	var at []int
	for i := 0; i < count; i += step {
		at = append(at, first+i*sectorSize)
	}
	return at
}
