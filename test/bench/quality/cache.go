// This file caches vectors of texts. Each vector has a file of its own. A file's name is a hash of the endpoint, the
// model and the text.

package quality

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"

	"github.com/oxbow-memory/oxbow/vfs"
)

// VectorCache stores vectors in files. It ignores and overwrites damaged files and files of other
// programs.
type VectorCache struct{ CacheFS vfs.FS }

// cacheMagic is the beginning of a cache file with one vector. The rest of the file is a CRC-32C of the following bytes
// (four bytes) and the numbers of the vector as little-endian float32.
const cacheMagic = "oxbow vector 1\n"

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

// maxVectorFileBytes limits how many bytes are read from a cache file with one vector. No model returns a vector that
// needs more bytes.
const maxVectorFileBytes = 1 << 20

func cacheFileName(endpoint, model, text string) string {
	h := sha256.New()
	for _, s := range []string{endpoint, model, text} {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	s := hex.EncodeToString(h.Sum(nil))
	return s[:2] + "/" + s[2:]
}

// Get implements [vectors.Cache]: it returns the vector of a text, or nil.
func (c *VectorCache) Get(endpoint, model, text string) []float32 {
	b, err := vfs.ReadFile(c.CacheFS, cacheFileName(endpoint, model, text), maxVectorFileBytes)
	if err != nil {
		return nil
	}
	return decodeVector(b)
}

func decodeVector(b []byte) []float32 {
	n := len(cacheMagic) + 4
	hasNumbers := len(b) > n && (len(b)-n)%4 == 0
	if !hasNumbers || string(b[:len(cacheMagic)]) != cacheMagic {
		return nil
	}
	if binary.LittleEndian.Uint32(b[len(cacheMagic):]) != crc32.Checksum(b[n:], castagnoliTable) {
		return nil
	}
	v := make([]float32, 0, (len(b)-n)/4)
	for b = b[n:]; len(b) > 0; b = b[4:] {
		x := math.Float32frombits(binary.LittleEndian.Uint32(b))
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
		v = append(v, x)
	}
	return v
}

func encodeVector(v []float32) []byte {
	var numbers []byte
	for _, x := range v {
		numbers = binary.LittleEndian.AppendUint32(numbers, math.Float32bits(x))
	}
	b := binary.LittleEndian.AppendUint32([]byte(cacheMagic), crc32.Checksum(numbers, castagnoliTable))
	return append(b, numbers...)
}

// Put implements [vectors.Cache]: it stores the vector of a text.
func (c *VectorCache) Put(endpoint, model, text string, v []float32) error {
	name := cacheFileName(endpoint, model, text)
	if err := c.CacheFS.MkdirAll(name[:2], 0o700); err != nil {
		return err
	}
	return vfs.WriteDerived(c.CacheFS, name, 0o600, encodeVector(v))
}
