// This file defines the possible effects of a crash on one write.

package crashfs

import (
	"slices"
	"strconv"
)

// crashOutcome tells what remains of a pending write or truncation after a crash.
type crashOutcome struct {
	outcomeKind crashOutcomeKind
	// number of bytes of the write before the cut, if only a part of the write remains (outcomeFirstBytesKept,
	// outcomeOnlySizeKept and outcomeLastBytesKept)
	cutOffset int
}

type crashOutcomeKind uint8

const (
	outcomeOpLost crashOutcomeKind = iota
	outcomeOpKept                  // After the crash, the file contains all bytes of the write.
	// After the crash, only the first bytes of the write are in the file, and the file ends after them.
	outcomeFirstBytesKept
	// After the crash, only the first bytes of the write are in the file, or none. The file has its full new length.
	outcomeOnlySizeKept
	// After the crash, the first bytes of the write are missing. The file has its full new length.
	outcomeLastBytesKept
)

// describe returns a text about the effect of the crash on the operation op, such as "lost write 7".
func (f crashOutcome) describe(op string) string {
	switch f.outcomeKind {
	case outcomeOpLost:
		return "lost " + op
	case outcomeFirstBytesKept:
		return "only the first " + strconv.Itoa(f.cutOffset) + " bytes of " + op
	case outcomeOnlySizeKept:
		if f.cutOffset == 0 {
			return "only the length of " + op
		}
		return "the length and the first " + strconv.Itoa(f.cutOffset) + " bytes of " + op
	case outcomeLastBytesKept:
		return "all but the first " + strconv.Itoa(f.cutOffset) + " bytes of " + op
	}
	return "kept " + op
}

// applyTo returns the bytes of a file after the operation op, a write or a truncation. buf contains the bytes before
// it, and may be overwritten. f says how much of the operation remains after a crash.
func (op *pendingDataOp) applyTo(buf []byte, f crashOutcome) []byte {
	if f.outcomeKind == outcomeOpLost {
		return buf
	}
	if op.op.Kind == OpTruncate {
		return resizeBuffer(buf, op.op.Off)
	}
	from, to := 0, len(op.data)
	switch f.outcomeKind {
	case outcomeFirstBytesKept, outcomeOnlySizeKept:
		to = f.cutOffset
	case outcomeLastBytesKept:
		from = f.cutOffset
	}
	if end := op.endOffset(f); end > int64(len(buf)) {
		buf = resizeBuffer(buf, end)
	}
	copy(buf[op.op.Off+int64(from):], op.data[from:to])
	return buf
}

// endOffset returns the offset in the file at which the bytes of the write op end. f says how much of the write remains
// after a crash. The file is at least this long then. If the write was lost, or if op is a truncation, endOffset
// returns 0.
func (op *pendingDataOp) endOffset(f crashOutcome) int64 {
	switch {
	case f.outcomeKind == outcomeOpLost || op.op.Kind == OpTruncate:
		return 0
	case f.outcomeKind == outcomeFirstBytesKept:
		return op.op.Off + int64(f.cutOffset)
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
	maxFinelyCutWriteBytes = 256
	// If a write has more than maxFinelyCutWriteBytes bytes, it may end within writeEdgeBytes after its start, within
	// writeEdgeBytes before its end, or at the end of a sector.
	writeEdgeBytes      = 64
	maxSectorBoundaries = 32 // maximum number of sector boundaries at which one write is cut
)

// possibleCrashOutcomes returns the ways in which a crash may leave only a part of a write in the file.
func (op *pendingDataOp) possibleCrashOutcomes() []crashOutcome {
	size := len(op.data)
	if op.op.Kind != OpWrite || size == 0 {
		return nil
	}
	fates := []crashOutcome{{outcomeOnlySizeKept, 0}}
	sectors := op.sectorBoundaries()
	add := func(at int, forms ...crashOutcomeKind) {
		if at <= 0 || at >= size {
			return
		}
		for _, f := range forms {
			fates = append(fates, crashOutcome{f, at})
		}
	}
	add(1, outcomeFirstBytesKept)
	for t := 3; t < size; t += 3 {
		isAtEdge := t <= writeEdgeBytes || t >= size-writeEdgeBytes
		if isAtEdge || size <= maxFinelyCutWriteBytes {
			add(t, outcomeFirstBytesKept)
		}
	}
	add(size-1, outcomeFirstBytesKept)
	for _, t := range sectors {
		add(t, outcomeFirstBytesKept, outcomeOnlySizeKept, outcomeLastBytesKept)
	}
	for _, t := range []int{1, 4, 8, 16, 32, size / 2, size - 1} {
		add(t, outcomeOnlySizeKept, outcomeLastBytesKept)
	}
	return fates
}

// sectorBoundaries returns the positions in the bytes of the write op at which a new sector of the file begins. If
// there are more than maxSectorBoundaries such positions, it returns maxSectorBoundaries or fewer, evenly spread.
func (op *pendingDataOp) sectorBoundaries() []int {
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
