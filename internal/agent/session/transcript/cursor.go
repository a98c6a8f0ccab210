// This file implements cursors, which record how far a transcript was read.

package transcript

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// readCursor is a position in a transcript.
type readCursor struct {
	turn int64 // offset of the last turn
	end  int64 // end of the lines that were read (-1 if none were read)

	// sum is a checksum of the text before end. Clients rewrite transcripts, for example to remove what a compaction
	// replaced. Then the offsets have no meaning. If hasSum is false, an earlier version stored the cursor, or the text
	// is compressed.
	sum    uint32
	hasSum bool
}

// maxSummed is the number of bytes before the end of which a cursor has a checksum.
const maxSummed = 4 << 10

// parseCursor parses a cursor. A text that is not a cursor is the start of the file.
func parseCursor(text string) readCursor {
	var c readCursor
	n, _ := fmt.Sscanf(text, "%d %d %x", &c.turn, &c.end, &c.sum) // n shows what was parsed
	c.hasSum = n == 3
	isValid := c.turn >= 0 && c.end >= c.turn
	if n < 2 || !isValid {
		return readCursor{end: -1}
	}
	return c
}

func (c readCursor) String() string {
	if !c.hasSum {
		return fmt.Sprintf("%d %d", c.turn, c.end)
	}
	return fmt.Sprintf("%d %d %08x", c.turn, c.end, c.sum)
}

// isOf reports whether the text before the end of the cursor is the text that was read.
func (c readCursor) isOf(in *clientfile.Transcript) (bool, error) {
	size, isKnown := in.Size()
	if !isKnown {
		return true, nil
	}
	if size < c.end {
		return false, nil
	}
	if !c.hasSum {
		return true, nil
	}
	sum, err := sumBefore(in, c.end)
	return sum == c.sum, err
}

// withSum returns the cursor with the checksum of a text.
func (c readCursor) withSum(in *clientfile.Transcript) (readCursor, error) {
	if _, isKnown := in.Size(); !isKnown {
		return c, nil
	}
	var err error
	c.sum, err = sumBefore(in, c.end)
	c.hasSum = err == nil
	return c, err
}

// sumBefore returns a checksum of the text before an offset.
func sumBefore(in io.ReadSeeker, end int64) (uint32, error) {
	begin := max(0, end-maxSummed)
	if _, err := in.Seek(begin, io.SeekStart); err != nil {
		return 0, err
	}
	text := make([]byte, end-begin)
	_, err := io.ReadFull(in, text)
	return crc32.ChecksumIEEE(text), err
}
