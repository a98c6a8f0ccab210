// This file stores the texts of terms.

package index

import "strings"

// termArena stores short strings one after the other in large blocks. Each string follows a byte
// with the length of the string. A string needs only its own bytes and 5 more, and the garbage
// collector sees only the blocks. Returned strings remain valid, because written bytes do not
// change.
type termArena struct {
	blocks      []string         // blocks of which all bytes up to their length are written
	lastBlock   *strings.Builder // builder of the last block
	longStrings []string         // strings that are too long for a block
	totalBytes  int              // total size of all strings in bytes
}

// A reference consists of a block number and an offset in this block, at which the
// string's length is stored. If the top bit is set, the reference is an index in long
// instead.
const (
	blockBits      = 16 // number of bits in an offset
	blockBytes     = 1 << blockBits
	maxBlocks      = 1 << (31 - blockBits)
	longStringFlag = 1 << 31
	minBlockBytes  = 1 << 6 // size of the first block in bytes, which is the smallest
	maxBlockString = 255    // maximum length of a string in a block
)

// add copies the string and returns its reference.
func (t *termArena) add(s string) uint32 {
	t.totalBytes += len(s)
	room := t.lastBlock != nil && t.lastBlock.Len()+1+len(s) <= min(t.lastBlock.Cap(), blockBytes)
	isFull := !room && len(t.blocks) == maxBlocks
	if len(s) > maxBlockString || isFull {
		t.longStrings = append(t.longStrings, strings.Clone(s))
		return longStringFlag | uint32(len(t.longStrings)-1)
	}
	if !room {
		t.lastBlock = new(strings.Builder)
		t.lastBlock.Grow(min(max(t.totalBytes, minBlockBytes), blockBytes))
		t.blocks = append(t.blocks, "")
	}
	at := t.lastBlock.Len()
	t.lastBlock.WriteByte(byte(len(s)))
	t.lastBlock.WriteString(s)
	n := len(t.blocks) - 1
	t.blocks[n] = t.lastBlock.String()
	return uint32(n<<blockBits | at)
}

// get returns the string with this reference.
func (t *termArena) get(ref uint32) string {
	if ref >= longStringFlag {
		return t.longStrings[ref&^longStringFlag]
	}
	b := t.blocks[ref>>blockBits][ref%blockBytes:]
	return b[1 : 1+int(b[0])]
}
