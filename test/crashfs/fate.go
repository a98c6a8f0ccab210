// This file defines the possible effects of a crash on one write.

package crashfs

import (
	"slices"
	"strconv"
)

// writeFate is the effect of a crash on a pending write or truncation.
type writeFate struct {
	form fateForm
	size int // offset in the write's bytes at which it is cut, for head, grown and tail
}

type fateForm uint8

const (
	fateLost  fateForm = iota
	fateKept           // completely written
	fateHead           // only the first bytes were written, and the file ends there
	fateGrown          // only the first bytes, perhaps none, were written, but the file has its full new length
	fateTail           // the first bytes are missing, but the file has its full new length
)

// describe describes the fate of the operation op, for a label.
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

// applyTo applies the surviving part of the operation to a file's bytes. It modifies buf, and returns buf or a
// new slice with the result.
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

// endOffset returns the minimum length that the file has after the surviving part of a write, or 0 if the
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

// resizeBuffer changes the length of buf. New bytes are zero.
func resizeBuffer(buf []byte, size int64) []byte {
	old := len(buf)
	if int(size) <= old {
		return buf[:size:size] // limit the capacity, because the bytes after it may be shared
	}
	buf = slices.Grow(buf, int(size)-old)[:size]
	clear(buf[old:])
	return buf
}

const (
	sectorSize = 512 // bytes that a disk writes atomically
	fineLimit  = 256 // writes of at most this many bytes are cut at every third byte
	edgeCount  = 64  // longer writes are cut at this many bytes at each end
	maxSectors = 32  // maximum number of sector boundaries at which a write is cut
)

// possibleFates returns the ways in which a write may be kept in part.
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

// sectorBoundaries returns the offsets in the write's bytes at which a sector of the file begins: at
// most maxSectors, spread evenly.
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
