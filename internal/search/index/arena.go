// This file stores the texts of terms.

package index

import "strings"

// termArena stores short strings one after the other in large blocks. Each string follows a byte
// with the length of the string. A string needs only its own bytes and 5 more, and the garbage
// collector sees only the blocks. Returned strings remain valid, because written bytes do not
// change.
type termArena struct {
	blocks []string         // blocks of which all bytes up to their length are written
	last   *strings.Builder // builder of the last block
	long   []string         // strings that are too long for a block
	size   int              // total size of all strings in bytes
}

// A reference consists of a block number and an offset in this block, at which the
// string's length is stored. If the top bit is set, the reference is an index in long
// instead.
const (
	blockBits  = 16 // number of bits in an offset
	blockBytes = 1 << blockBits
	mostBlocks = 1 << (31 - blockBits)
	isLong     = 1 << 31
	shortest   = 1 << 6 // size of the first block in bytes, which is the smallest
	longest    = 255    // maximum length of a string in a block
)

// add copies the string and returns its reference.
func (t *termArena) add(s string) uint32 {
	t.size += len(s)
	room := t.last != nil && t.last.Len()+1+len(s) <= min(t.last.Cap(), blockBytes)
	isFull := !room && len(t.blocks) == mostBlocks
	if len(s) > longest || isFull {
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

// get returns the string with this reference.
func (t *termArena) get(ref uint32) string {
	if ref >= isLong {
		return t.long[ref&^isLong]
	}
	b := t.blocks[ref>>blockBits][ref%blockBytes:]
	return b[1 : 1+int(b[0])]
}
