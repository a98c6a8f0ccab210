// This file stores the prints that no longer fit into the file of texts, in a small approximate
// set.
//
// The set is a Bloom filter, which never loses a print but may report a print that was never added.
// It has no labels. Therefore a text with such a print counts as a repetition of a text that nobody
// vouches for. The more prints are dropped, the more texts are mistaken for repetitions.
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

// Names of the files with dropped prints: of the current generation, and of the previous generation.
const (
	droppedFile    = "read.dropped"
	droppedOldFile = "read.dropped.old"
)

const (
	droppedHeader = 32
	droppedBits   = 1 << 25
	droppedHashes = 6 // number of bits that each print sets in the Bloom filter
	// droppedLabel is the label of a match that was found in the dropped prints, which have no labels of their own.
	droppedLabel = "read-earlier"
)

var droppedMagic = []byte("OXdrop01")

// droppedSet is one generation of dropped prints, a Bloom filter.
type droppedSet struct {
	start time.Time
	data  []byte // the whole file: the header and the bits
}

// eachBit calls fn with the position of each bit that the print sets, until fn returns false. It reports whether all
// calls returned true.
func eachBit(p printHash, fn func(bit uint64) bool) bool {
	h := mixBits(uint64(p) * runFactor)
	step := mixBits(h^uint64(p)) | 1
	for range droppedHashes {
		if !fn(h % droppedBits) {
			return false
		}
		h += step
	}
	return true
}

func (d *droppedSet) addPrint(p printHash) {
	eachBit(p, func(at uint64) bool {
		d.data[droppedHeader+at/8] |= 1 << (at % 8)
		return true
	})
}

func (d *droppedSet) mayContain(p printHash) bool {
	return eachBit(p, func(at uint64) bool { return d.data[droppedHeader+at/8]&(1<<(at%8)) != 0 })
}

// writeHeader writes the header into the data of the set.
func (d *droppedSet) writeHeader(key *cipherKey) {
	copy(d.data, droppedMagic)
	le.PutUint64(d.data[8:], key.shortHMAC([]byte("dropped")))
	le.PutUint64(d.data[16:], uint64(d.start.Unix()))
	le.PutUint32(d.data[28:], d.checksum())
}

func (d *droppedSet) checksum() uint32 {
	return crc32.Update(crc32.Checksum(d.data[:28], castagnoli), castagnoli, d.data[droppedHeader:])
}

// readDroppedSet reads the file of one generation. It returns nil if the file does not exist, or if all prints in it
// are too old.
func (f File) readDroppedSet(name string, key *cipherKey) (*droppedSet, error) {
	path := filepath.Join(f.Dir, name)
	file, err := vfs.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	d := &droppedSet{data: make([]byte, droppedHeader+droppedBits/8)}
	n, _ := file.ReadAt(d.data, 0) // A file that is too short counts as damaged.
	if n != len(d.data) || string(d.data[:8]) != string(droppedMagic) {
		return nil, errDamaged
	}
	if le.Uint64(d.data[8:]) != key.shortHMAC([]byte("dropped")) || le.Uint32(d.data[28:]) != d.checksum() {
		return nil, errDamaged
	}
	d.start = time.Unix(int64(le.Uint64(d.data[16:])), 0)
	if f.Now().Sub(d.start) >= 2*maxAge { // The newest print was added at most maxAge after the start.
		return nil, nil
	}
	return d, nil
}

// addDroppedPrints adds prints to the current generation. If the current generation is too old, it becomes the
// previous generation, and a new one begins.
func (f File) addDroppedPrints(dir *vfs.OS, key *cipherKey, prints []printHash) error {
	if len(prints) == 0 {
		return nil
	}
	d, err := f.readDroppedSet(droppedFile, key)
	if err != nil {
		f.renameDamagedFile(dir, droppedFile, lossReason(droppedFile, err))
	}
	if d != nil && f.Now().Sub(d.start) >= maxAge {
		if err := os.Rename(filepath.Join(f.Dir, droppedFile), filepath.Join(f.Dir, droppedOldFile)); err != nil {
			return err
		}
		d = nil
	}
	if d == nil {
		d = &droppedSet{start: f.Now(), data: make([]byte, droppedHeader+droppedBits/8)}
	}
	for _, p := range prints {
		d.addPrint(p)
	}
	d.writeHeader(key)
	return vfs.WriteFile(dir, droppedFile, d.data, 0o600)
}

// readDroppedSets returns the generations that exist and are not too old.
func (f File) readDroppedSets(key *cipherKey) (sets []*droppedSet, err error) {
	for _, name := range []string{droppedFile, droppedOldFile} {
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
