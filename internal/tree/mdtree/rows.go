// This file implements tables with a row for each entry of a memory. For a million entries, a dump or a load keeps
// only these tables in memory. Therefore the rows do not contain texts of entries.

package mdtree

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"strings"
)

// sha256Digest is a SHA-256 hash. The zero value means that the hash is not known.
type sha256Digest [sha256.Size]byte

func (d sha256Digest) isSet() bool { return d != sha256Digest{} }

// hexText returns the hash in hex, or "" if it is not known.
func (d sha256Digest) hexText() string {
	if !d.isSet() {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// parseDigest parses a hash in lower-case hex. It returns the zero value for any other text.
func parseDigest(s string) (d sha256Digest) {
	if len(s) != hex.EncodedLen(len(d)) || strings.ToLower(s) != s {
		return d
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return sha256Digest{}
	}
	return d
}

// nameBlockBytes is the size in bytes of each block of memory that nameBlockAllocator allocates for many short strings.
const nameBlockBytes = 64 << 10

// nameBlockAllocator copies many short strings into few allocations.
type nameBlockAllocator struct{ memoryBlock strings.Builder }

// copyNameIntoBlock returns a copy of s in a memory block that many names share. A separate allocation for each name
// would need more memory.
func (t *nameBlockAllocator) copyNameIntoBlock(s string) string {
	if t.memoryBlock.Cap()-t.memoryBlock.Len() < len(s) {
		t.memoryBlock = strings.Builder{}
		t.memoryBlock.Grow(max(nameBlockBytes, len(s)))
	}
	from := t.memoryBlock.Len()
	t.memoryBlock.WriteString(s)
	return t.memoryBlock.String()[from:]
}

// rowsByString finds rows of a table by a string. It needs at most 8 bytes for each row.
type rowsByString struct {
	slots []int32 // hash table: each element is the number of a row plus 1, or 0 if the place is empty
	seed  maphash.Seed
}

// newRowIndex returns an index for at most maxRowCount rows.
func newRowIndex(maxRowCount int) rowsByString {
	size := 16
	for size < maxRowCount+maxRowCount/2 {
		size *= 2
	}
	return rowsByString{slots: make([]int32, size), seed: maphash.MakeSeed()}
}

// findRow returns the row with a key. equal reports whether a row has the key.
func (x *rowsByString) findRow(key string, equal func(row int) bool) (row int, ok bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	slot := x.findSlot(key, equal)
	return int(x.slots[slot]) - 1, x.slots[slot] != 0
}

// addRow adds the number row to the index under the given key. The function equal reports whether a row in the index
// has the same key. If the index already contains a row with this key, addRow does not change the index, and returns
// this row and true. Otherwise it returns the argument row and false.
func (x *rowsByString) addRow(key string, row int, equal func(row int) bool) (rowWithKey int, isTaken bool) {
	slot := x.findSlot(key, equal)
	if x.slots[slot] != 0 {
		return int(x.slots[slot]) - 1, true
	}
	x.slots[slot] = int32(row) + 1
	return row, false
}

// findSlot returns the slot of the row with a key, or the empty slot in which the row would be.
func (x *rowsByString) findSlot(key string, equal func(row int) bool) int {
	mask := len(x.slots) - 1
	slot := int(maphash.String(x.seed, key)) & mask
	for x.slots[slot] != 0 && !equal(int(x.slots[slot])-1) {
		slot = (slot + 1) & mask
	}
	return slot
}

// kindDirIndex returns the index of a directory in entryKindDirs, or -1.
func kindDirIndex(dir string) int {
	for i := range entryKindDirs {
		if entryKindDirs[i].dir == dir {
			return i
		}
	}
	return -1
}

// entryPath returns the path of an entry's file.
func entryPath(dir, stem string) string { return dir + "/" + stem + ".md" }

// splitEntryPath splits the path of an entry file into the directory and the file name without ".md". It is the reverse
// of entryPath. It must be called only with a path for which [isEntryPath] returns true.
func splitEntryPath(p string) (dir, stem string) {
	dir, file, _ := strings.Cut(p, "/")
	return dir, strings.TrimSuffix(file, ".md")
}

// compareFileStems compares two file names without the ending .md (stems). The stems are ordered in the same way as the
// full names with .md.
func compareFileStems(a, b string) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return strings.Compare(a[n:]+".md", b[n:]+".md")
}
