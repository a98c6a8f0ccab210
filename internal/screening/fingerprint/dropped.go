// This file stores old fingerprints in a small approximate set, after they were removed from the main fingerprint file
// to make room. A fingerprint, or print, is a hash of a few words of a text that an agent read.
//
// The set is a Bloom filter, which never loses a print but may report a print that was never added. The filter stores
// no labels. Therefore a text with such a print counts as a repetition of a text that nobody vouches for. The more
// prints are dropped, the more texts are mistaken for repetitions.
//
// The set has two generations, each in a file of its own. A new generation begins after 14 days:
//
//	magic   8 bytes "OXdrop01"
//	check   8 bytes of the key: the start of HMAC-SHA-256(key, "dropped")
//	start   8 bytes seconds since 1970 when the first print was added
//	zero    4 bytes
//	check   4 bytes CRC-32C of the bytes before and of the bits
//	bits    4 MB

package fingerprint

import (
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// These files contain fingerprints that were removed from the main file. After 14 days, the first file gets the name
// of the second file, and a new first file begins.
const (
	droppedFileName    = "read.dropped"
	oldDroppedFileName = "read.dropped.old"
)

const (
	droppedHeader         = 32
	droppedFilterBits     = 1 << 25
	hashesPerDroppedPrint = 6 // number of bits that each fingerprint sets in the Bloom filter
	// droppedLabel is reported as the label of an earlier text if only a removed fingerprint matches, because labels
	// are not stored with removed fingerprints.
	droppedLabel = "read-earlier"
)

var droppedMagic = []byte("OXdrop01")

// droppedPrintFilter is a Bloom filter with the fingerprints that were removed from the fingerprint file in one
// period.
type droppedPrintFilter struct {
	start time.Time
	data  []byte // content of the file with the Bloom filter: a header, then the filter's bits
}

// eachFilterBit calls fn with the position of each bit that the fingerprint p sets in the Bloom filter, until fn
// returns false. It reports whether all calls returned true.
func eachFilterBit(p fingerprintHash, fn func(bit uint64) bool) bool {
	h := mixBits(uint64(p) * runHashFactor)
	step := mixBits(h^uint64(p)) | 1
	for range hashesPerDroppedPrint {
		if !fn(h % droppedFilterBits) {
			return false
		}
		h += step
	}
	return true
}

func (d *droppedPrintFilter) addPrint(p fingerprintHash) {
	eachFilterBit(p, func(at uint64) bool {
		d.data[droppedHeader+at/8] |= 1 << (at % 8)
		return true
	})
}

func (d *droppedPrintFilter) mayContain(p fingerprintHash) bool {
	return eachFilterBit(p, func(at uint64) bool { return d.data[droppedHeader+at/8]&(1<<(at%8)) != 0 })
}

// writeHeader writes the file header into d.data, before the bits of the Bloom filter.
func (d *droppedPrintFilter) writeHeader(key *cipherKey) {
	copy(d.data, droppedMagic)
	byteOrder.PutUint64(d.data[8:], key.shortHMAC([]byte("dropped")))
	byteOrder.PutUint64(d.data[16:], uint64(d.start.Unix()))
	byteOrder.PutUint32(d.data[28:], d.checksum())
}

func (d *droppedPrintFilter) checksum() uint32 {
	return crc32.Update(crc32.Checksum(d.data[:28], castagnoli), castagnoli, d.data[droppedHeader:])
}

// readDroppedSet reads a file with removed fingerprints. It returns nil if the file does not exist, or if all
// fingerprints in the file are too old.
func (f File) readDroppedSet(name string, key *cipherKey) (*droppedPrintFilter, error) {
	path := filepath.Join(f.Dir, name)
	file, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := &droppedPrintFilter{data: make([]byte, droppedHeader+droppedFilterBits/8)}
	n, _ := file.ReadAt(d.data, 0) // A file that is too short counts as damaged.
	if n != len(d.data) || string(d.data[:8]) != string(droppedMagic) {
		return nil, errDamaged
	}
	if byteOrder.Uint64(d.data[8:]) != key.shortHMAC([]byte("dropped")) ||
		byteOrder.Uint32(d.data[28:]) != d.checksum() {
		return nil, errDamaged
	}
	d.start = time.Unix(int64(byteOrder.Uint64(d.data[16:])), 0)
	// The newest fingerprint was added at most maxBlockAge after start, so it is too old now.
	if f.Now().Sub(d.start) >= 2*maxBlockAge {
		return nil, nil
	}
	return d, nil
}

// addDroppedPrints adds removed fingerprints to the file droppedFileName. If this file was begun more than 14 days
// ago, addDroppedPrints first renames it to oldDroppedFileName and begins a new file.
func (f File) addDroppedPrints(dir *vfs.OS, key *cipherKey, prints []fingerprintHash) error {
	if len(prints) == 0 {
		return nil
	}
	d, err := f.readDroppedSet(droppedFileName, key)
	if err != nil {
		f.renameDamagedFile(dir, droppedFileName, lossReason(droppedFileName, err))
	}
	if d != nil && f.Now().Sub(d.start) >= maxBlockAge {
		if err := os.Rename(filepath.Join(f.Dir, droppedFileName), filepath.Join(f.Dir,
			oldDroppedFileName)); err != nil {
			return err
		}
		d = nil
	}
	if d == nil {
		d = &droppedPrintFilter{start: f.Now(), data: make([]byte, droppedHeader+droppedFilterBits/8)}
	}
	for _, p := range prints {
		d.addPrint(p)
	}
	d.writeHeader(key)
	return vfs.WriteFile(dir, droppedFileName, d.data, 0o600)
}

// readDroppedSets reads the two files with removed fingerprints. Files that do not exist or are too old are left out.
func (f File) readDroppedSets(key *cipherKey) (sets []*droppedPrintFilter, err error) {
	for _, name := range []string{droppedFileName, oldDroppedFileName} {
		d, err := f.readDroppedSet(name, key)
		if err != nil {
			return nil, err
		}
		if d != nil {
			sets = append(sets, d)
		}
	}
	return sets, nil
}
