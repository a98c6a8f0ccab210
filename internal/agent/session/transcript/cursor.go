// This file implements cursors. A cursor records how far a transcript was read.

package transcript

import (
	"fmt"
	"hash/crc32"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// turnReadPosition is a decoded cursor, which is a position in a transcript.
type turnReadPosition struct {
	turnOffset int64 // offset at which the last turn begins
	endOffset  int64 // end of the lines that were read (-1 if none were read)

	// checksum is a checksum of the text before endOffset. It detects that a client has rewritten the transcript, for
	// example after a compaction, because the offsets are then meaningless. hasChecksum is false if the text is
	// compressed, or if an old version of oxbow stored the cursor.
	checksum    uint32
	hasChecksum bool
}

// maxChecksumBytes is the number of bytes that are covered by the checksum in a cursor. These are the last bytes
// before the position at which reading stopped.
const maxChecksumBytes = 4 << 10

// parseCursor parses a cursor, which is the position up to which a transcript was read. If the text is not a valid
// cursor, it returns a position with endOffset -1, so that the file is read from the start.
func parseCursor(text string) turnReadPosition {
	var c turnReadPosition
	// Ignore the error: n shows how many values were parsed.
	n, _ := fmt.Sscanf(text, "%d %d %x", &c.turnOffset, &c.endOffset, &c.checksum)
	c.hasChecksum = n == 3
	isValid := c.turnOffset >= 0 && c.endOffset >= c.turnOffset
	if n < 2 || !isValid {
		return turnReadPosition{endOffset: -1}
	}
	return c
}

func (c turnReadPosition) String() string {
	if !c.hasChecksum {
		return fmt.Sprintf("%d %d", c.turnOffset, c.endOffset)
	}
	return fmt.Sprintf("%d %d %08x", c.turnOffset, c.endOffset, c.checksum)
}

// matchesText reports whether the transcript still contains the text that was read when the position c was stored. The
// client may have rewritten the transcript since then. If the transcript's size is unknown, matchesText returns true.
// If c has no checksum, it checks only that the transcript is at least as long as before.
func (c turnReadPosition) matchesText(in *clientfile.Transcript) (bool, error) {
	size, isKnown := in.Size()
	if !isKnown {
		return true, nil
	}
	if size < c.endOffset {
		return false, nil
	}
	if !c.hasChecksum {
		return true, nil
	}
	sum, err := checksumBefore(in, c.endOffset)
	return sum == c.checksum, err
}

// withChecksum returns a copy of the position c with a checksum of the transcript's text before c.endOffset. If the
// size of the transcript is unknown, withChecksum returns c unchanged. It returns an error if the text cannot be read.
func (c turnReadPosition) withChecksum(in *clientfile.Transcript) (turnReadPosition, error) {
	if _, isKnown := in.Size(); !isKnown {
		return c, nil
	}
	var err error
	c.checksum, err = checksumBefore(in, c.endOffset)
	c.hasChecksum = err == nil
	return c, err
}

// checksumBefore returns the checksum of the last maxChecksumBytes bytes before endOffset.
func checksumBefore(in io.ReadSeeker, endOffset int64) (uint32, error) {
	begin := max(0, endOffset-maxChecksumBytes)
	if _, err := in.Seek(begin, io.SeekStart); err != nil {
		return 0, err
	}
	text := make([]byte, endOffset-begin)
	_, err := io.ReadFull(in, text)
	return crc32.ChecksumIEEE(text), err
}
