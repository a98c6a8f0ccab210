// This file computes a hash of a disk's content, by which equal contents are recognized.

package crashfs

import (
	"encoding/binary"
	"io/fs"
	"math/bits"

	"github.com/oxbow-memory/oxbow/vfs"
)

// HashFiles returns a hash of the file names, permissions and bytes in m. Equal file systems have the same hash, also
// in different runs of a program. If the function skip returns true for the name of a file, the file's bytes do not
// influence the hash. skip may be nil.
func HashFiles(m *vfs.Mem, skip func(name string) bool) uint64 {
	h, n := uint64(0), 0
	var first map[uint64]int // for each inode, the index of the file's first name
	m.Each(func(name string, info fs.FileInfo, data []byte) {
		h = combineHashes(h, hashNameAndMode(name, info.Mode()))
		link := -1
		if !info.IsDir() {
			if skip == nil || !skip(name) {
				h = combineHashes(h, hashBytes(data))
			}
			if first == nil {
				first = make(map[uint64]int)
			}
			ino := info.Sys().(uint64)
			if at, ok := first[ino]; ok {
				link = at
			} else {
				first[ino] = n
			}
		}
		h = combineHashes(h, uint64(link))
		n++
	})
	return h
}

func hashNameAndMode(name string, mode fs.FileMode) uint64 {
	return combineHashes(hashString(name), uint64(mode&(fs.ModeDir|fs.ModePerm)))
}

// These odd numbers multiply bytes to mix them. They are the fractional digits of sqrt(2), sqrt(3) and sqrt(5).
const (
	hashFactorFromRoot2 = 0x6a09e667f3bcc909
	hashFactorFromRoot3 = 0xbb67ae8584caa73b
	hashFactorFromRoot5 = 0x3c6ef372fe94f82b
)

// hashBytes hashes bytes by folded multiplication, like wyhash: it makes two factors from 16 bytes, multiplies the
// factors, and joins the halves of the product. A CRC would not be suitable, because the tested files contain CRCs of
// their own bytes. With such bytes, different files could have the same CRC.
func hashBytes(b []byte) uint64 {
	h, size := uint64(hashFactorFromRoot5), uint64(len(b))
	for ; len(b) >= 16; b = b[16:] {
		h = multiplyAndFold(binary.LittleEndian.Uint64(b)^hashFactorFromRoot2, binary.LittleEndian.Uint64(b[8:])^h)
	}
	if len(b) > 0 {
		var last [16]byte
		copy(last[:], b)
		h = multiplyAndFold(
			binary.LittleEndian.Uint64(last[:])^hashFactorFromRoot2,
			binary.LittleEndian.Uint64(last[8:])^h,
		)
	}
	return multiplyAndFold(h^hashFactorFromRoot3, size^hashFactorFromRoot5)
}

// hashString hashes a short string like hashBytes.
func hashString(s string) uint64 {
	var b [64]byte
	return hashBytes(append(b[:0], s...))
}

func multiplyAndFold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// combineHashes combines two hashes into one. A different order gives a different hash.
func combineHashes(a, b uint64) uint64 {
	h := (a ^ b*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd
	return h ^ h>>32
}
