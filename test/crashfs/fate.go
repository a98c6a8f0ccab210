// This file defines the possible effects of a crash on one write.

package crashfs

import (
	"slices"
	"strconv"
)

// fate is the effect of a crash on a pending write or truncation.
type fate struct {
	form form
	at   int // offset in the write's bytes at which it is cut, for head, grown and tail
}

type form uint8

const (
	lost  form = iota
	kept       // completely written
	head       // only the first bytes were written, and the file ends there
	grown      // only the first bytes, perhaps none, were written, but the file has its full new length
	tail       // the first bytes are missing, but the file has its full new length
)

// text describes the fate of the operation op, for a label.
func (f fate) text(op string) string {
	switch f.form {
	case lost:
		return "lost " + op
	case head:
		return "only the first " + strconv.Itoa(f.at) + " bytes of " + op
	case grown:
		if f.at == 0 {
			return "only the length of " + op
		}
		return "the length and the first " + strconv.Itoa(f.at) + " bytes of " + op
	case tail:
		return "all but the first " + strconv.Itoa(f.at) + " bytes of " + op
	}
	return "kept " + op
}

// apply applies the surviving part of the operation to the bytes of a file. It modifies buf
// and may return it.
func (op *dataOp) apply(buf []byte, f fate) []byte {
	if f.form == lost {
		return buf
	}
	if op.op.Kind == Truncate {
		return resize(buf, op.op.Off)
	}
	from, to := 0, len(op.data)
	switch f.form {
	case head, grown:
		to = f.at
	case tail:
		from = f.at
	}
	if end := op.end(f); end > int64(len(buf)) {
		buf = resize(buf, end)
	}
	copy(buf[op.op.Off+int64(from):], op.data[from:to])
	return buf
}

// end returns the minimum length of the file after the surviving part of a write, or 0 if
// the operation does not extend the file.
func (op *dataOp) end(f fate) int64 {
	switch {
	case f.form == lost || op.op.Kind == Truncate:
		return 0
	case f.form == head:
		return op.op.Off + int64(f.at)
	}
	return op.op.Off + int64(len(op.data))
}

// resize changes the length of buf. New bytes are zero.
func resize(buf []byte, size int64) []byte {
	old := len(buf)
	if int(size) <= old {
		return buf[:size:size] // limit the capacity, because the bytes after it may be shared
	}
	buf = slices.Grow(buf, int(size)-old)[:size]
	clear(buf[old:])
	return buf
}

const (
	sector   = 512 // bytes that a disk writes atomically
	fine     = 256 // writes of at most this many bytes are cut at every third byte
	edge     = 64  // longer writes are cut at this many bytes at each end
	maxSects = 32  // maximum number of sector boundaries at which a write is cut
)

// fates returns the ways in which a write may be kept in part.
func (op *dataOp) fates() []fate {
	size := len(op.data)
	if op.op.Kind != Write || size == 0 {
		return nil
	}
	fates := []fate{{grown, 0}}
	sectors := op.sectors()
	add := func(at int, forms ...form) {
		if at <= 0 || at >= size {
			return
		}
		for _, f := range forms {
			fates = append(fates, fate{f, at})
		}
	}
	add(1, head)
	for t := 3; t < size; t += 3 {
		if size <= fine || t <= edge || t >= size-edge {
			add(t, head)
		}
	}
	add(size-1, head)
	for _, t := range sectors {
		add(t, head, grown, tail)
	}
	for _, t := range []int{1, 4, 8, 16, 32, size / 2, size - 1} {
		add(t, grown, tail)
	}
	return fates
}

// sectors returns the offsets in the write's bytes at which a sector of the file begins: at
// most maxSects, spread evenly.
func (op *dataOp) sectors() []int {
	first := sector - int(op.op.Off%sector)
	count := 0
	if first < len(op.data) {
		count = (len(op.data)-1-first)/sector + 1
	}
	step := max(1, (count+maxSects-1)/maxSects)
	var at []int
	for i := 0; i < count; i += step {
		at = append(at, first+i*sector)
	}
	return at
}
