// What a crash may do to one write.

package crashfs

import (
	"slices"
	"strconv"
)

// fate is what became of a pending write or truncation.
type fate struct {
	form form
	at   int // where in the write's bytes it is cut, for head, grown and tail
}

type form uint8

const (
	lost  form = iota
	kept       // all of it
	head       // the first bytes, and the file ends there
	grown      // the first bytes, perhaps none, and the whole length
	tail       // all but the first bytes, and the whole length
)

// text says the fate of the operation op for a label.
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

// apply does to the bytes of a file what was left of the operation. It changes
// buf, and may return it.
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

// end returns up to where what was left of a write makes its file reach, 0 for
// what makes no file longer.
func (op *dataOp) end(f fate) int64 {
	switch {
	case f.form == lost || op.op.Kind == Truncate:
		return 0
	case f.form == head:
		return op.op.Off + int64(f.at)
	}
	return op.op.Off + int64(len(op.data))
}

// resize sets the length, with zeros in what is new.
func resize(buf []byte, size int64) []byte {
	old := len(buf)
	if int(size) <= old {
		return buf[:size:size] // what follows it may belong to others
	}
	buf = slices.Grow(buf, int(size)-old)[:size]
	clear(buf[old:])
	return buf
}

const (
	sector   = 512 // bytes that a disk writes as one
	fine     = 256 // writes up to so many bytes are torn at every third
	edge     = 64  // of longer ones, so many at each end
	maxSects = 32  // sector boundaries of one write that are tried
)

// fates returns in what parts a write may be kept, besides all and nothing.
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

// sectors returns where in the write's bytes a sector of the file begins, at
// most maxSects of them, spread evenly.
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
