// This file stores the texts of terms.

package index

import "strings"

// stringArena stores many short strings one after another in large blocks. Before each string, a byte contains its
// length. A string needs only its own bytes and 5 more, and the garbage collector sees only the blocks. Returned
// strings remain valid, because written bytes never change.
type stringArena struct {
	// blocks of memory that contain the strings. The last element is the part of lastBlock that is written so far.
	blocks      []string
	lastBlock   *strings.Builder // builder of the last block, to which strings are added
	longStrings []string         // strings that are longer than maxBlockStringBytes, each in its own memory
	totalBytes  int              // total size in bytes of all strings that were added
}

// A reference to a string consists of a block number and an offset in this block. The byte at the offset contains the
// string's length. If the top bit of a reference is set, the remaining bits are an index in longStrings.
const (
	blockOffsetBits = 16 // number of bits in a string reference for the position within a block
	blockBytes      = 1 << blockOffsetBits
	maxBlocks       = 1 << (31 - blockOffsetBits)
	longStringFlag  = 1 << 31
	minBlockBytes   = 1 << 6 // size in bytes of the first block of memory for strings; later blocks are larger
	// maximum length in bytes for a string in a block of memory. Longer strings are in longStrings.
	maxBlockStringBytes = 255
)

// add copies the string into the arena and returns a reference to the copy.
func (t *stringArena) add(s string) uint32 {
	t.totalBytes += len(s)
	room := t.lastBlock != nil && t.lastBlock.Len()+1+len(s) <= min(t.lastBlock.Cap(), blockBytes)
	isFull := !room && len(t.blocks) == maxBlocks
	if len(s) > maxBlockStringBytes || isFull {
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
	return uint32(n<<blockOffsetBits | at)
}

// get returns the string with this reference.
func (t *stringArena) get(ref uint32) string {
	if ref >= longStringFlag {
		return t.longStrings[ref&^longStringFlag]
	}
	b := t.blocks[ref>>blockOffsetBits][ref%blockBytes:]
	return b[1 : 1+int(b[0])]
}
