// The texts of terms, in blocks.

package index

import "strings"

// termArena keeps short strings one after another in blocks, each after a byte of
// its length, so that a text costs its own bytes and 5 more, and the garbage
// collector sees a block as one thing. A string that was handed out stays
// valid: bytes that were written do not change.
type termArena struct {
	blocks []string         // as far as they are written
	last   *strings.Builder // of the last block
	long   []string         // those that have no place in a block
	size   int              // bytes of all texts
}

// A reference is the block and the offset in it of a text's length, or, with
// the top bit, an index of long.
const (
	blockBits  = 16 // of an offset
	blockBytes = 1 << blockBits
	mostBlocks = 1 << (31 - blockBits)
	isLong     = 1 << 31
	shortest   = 1 << 6 // bytes of the first block, at least
	longest    = 255    // bytes of a text in a block
)

// add copies the text and returns its reference.
func (t *termArena) add(s string) uint32 {
	t.size += len(s)
	room := t.last != nil && t.last.Len()+1+len(s) <= min(t.last.Cap(), blockBytes)
	if len(s) > longest || (!room && len(t.blocks) == mostBlocks) {
		t.long = append(t.long, strings.Clone(s))
		return isLong | uint32(len(t.long)-1)
	}
	if !room {
		t.last = new(strings.Builder)
		t.last.Grow(min(max(t.size, shortest), blockBytes))
		t.blocks = append(t.blocks, "")
	}
	at := t.last.Len()
	t.last.WriteByte(byte(len(s)))
	t.last.WriteString(s)
	n := len(t.blocks) - 1
	t.blocks[n] = t.last.String()
	return uint32(n<<blockBits | at)
}

// get returns the text of a reference.
func (t *termArena) get(ref uint32) string {
	if ref >= isLong {
		return t.long[ref&^isLong]
	}
	b := t.blocks[ref>>blockBits][ref%blockBytes:]
	return b[1 : 1+int(b[0])]
}
