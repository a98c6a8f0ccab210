// This file stores old fingerprints in a small approximate set, after they were removed from the main fingerprint file
// to make room. A fingerprint, or print, is a hash of a few words of a text that an agent read.
//
// The set is a Bloom filter, which never loses a print but may report a print that was never added. The filter stores
// no labels. Therefore a text with such a print counts as a repetition of a text that nobody vouches for. The more
// prints the set contains, the more texts are mistaken for repetitions.
//
// The set has two generations, each in a file of its own. A new generation begins after 14 days:
//
//	magic   8 bytes "OXdrop01"
//	key     8 bytes by which the key is recognized: the start of HMAC-SHA-256(key, "dropped")
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
	removedFingerprintsFile    = "read.dropped"
	oldRemovedFingerprintsFile = "read.dropped.old"
)

const (
	removedFileHeaderSize        = 32
	removedFingerprintFilterBits = 1 << 25
	hashesPerRemovedFingerprint  = 6 // number of bits that each fingerprint sets in the Bloom filter
	// removedFingerprintLabel is reported as the label of an earlier text if only a removed fingerprint matches,
	// because labels are not stored with removed fingerprints.
	removedFingerprintLabel = "read-earlier"
)

var removedFingerprintsFileMagic = []byte("OXdrop01")

// eachFilterBit calls fn with the position of each bit that the fingerprint p sets in the Bloom filter, until fn
// returns false. It reports whether all calls returned true.
func eachFilterBit(p textFingerprint, fn func(bit uint64) bool) bool {
	h := mixBits(uint64(p) * wordRunHashFactor)
	step := mixBits(h^uint64(p)) | 1
	for range hashesPerRemovedFingerprint {
		if !fn(h % removedFingerprintFilterBits) {
			return false
		}
		h += step
	}
	return true
}

func (d *removedFingerprintFilter) addFingerprint(p textFingerprint) {
	eachFilterBit(p, func(at uint64) bool {
		d.data[removedFileHeaderSize+at/8] |= 1 << (at % 8)
		return true
	})
}

func (d *removedFingerprintFilter) mayContain(fingerprint textFingerprint) bool {
	return eachFilterBit(
		fingerprint,
		func(at uint64) bool { return d.data[removedFileHeaderSize+at/8]&(1<<(at%8)) != 0 },
	)
}

// writeHeader writes the file header to the beginning of d.data. The bits of the Bloom filter follow the header in
// d.data.
func (d *removedFingerprintFilter) writeHeader(key *cipherKey) {
	copy(d.data, removedFingerprintsFileMagic)
	byteOrder.PutUint64(d.data[8:], key.shortHMAC([]byte("dropped")))
	byteOrder.PutUint64(d.data[16:], uint64(d.startTime.Unix()))
	byteOrder.PutUint32(d.data[28:], d.checksum())
}

func (d *removedFingerprintFilter) checksum() uint32 {
	return crc32.Update(crc32.Checksum(d.data[:28], castagnoli), castagnoli, d.data[removedFileHeaderSize:])
}

// readRemovedFingerprintFile reads a file with removed fingerprints. If the file does not exist, both results are nil.
func (f Store) readRemovedFingerprintFile(name string, key *cipherKey) (*removedFingerprintFilter, error) {
	file, err := f.openRemovedFingerprintFile(name)
	if file == nil {
		return nil, err
	}
	defer file.Close()
	return readRemovedFilter(file, key)
}

// openRemovedFingerprintFile opens a file with removed fingerprints. If the file does not exist, both results are nil.
func (f Store) openRemovedFingerprintFile(name string) (*os.File, error) {
	file, err := vfs.OpenRegular(filepath.Join(f.Dir, name))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	return file, nil
}

// readRemovedFilter reads the content of a file with removed fingerprints. It returns errDamaged if the file is too
// short, has a wrong checksum, or was written with another key.
func readRemovedFilter(file *os.File, key *cipherKey) (*removedFingerprintFilter, error) {
	d := &removedFingerprintFilter{data: make([]byte, removedFileHeaderSize+removedFingerprintFilterBits/8)}
	n, _ := file.ReadAt(d.data, 0) // A file that is too short counts as damaged.
	if n != len(d.data) || string(d.data[:8]) != string(removedFingerprintsFileMagic) {
		return nil, errDamaged
	}
	if byteOrder.Uint64(d.data[8:]) != key.shortHMAC([]byte("dropped")) ||
		byteOrder.Uint32(d.data[28:]) != d.checksum() {
		return nil, errDamaged
	}
	d.startTime = time.Unix(int64(byteOrder.Uint64(d.data[16:])), 0)
	return d, nil
}

// addRemovedFingerprints adds removed fingerprints to the file removedFingerprintsFile. If this file was begun at least
// maxBlockAge ago, addRemovedFingerprints first renames it to oldRemovedFingerprintsFile and begins a new file. If the
// file is damaged, addRemovedFingerprints records the loss of its fingerprints and begins a new file, too.
func (f Store) addRemovedFingerprints(dir *vfs.OS, key *cipherKey, fingerprints []textFingerprint) error {
	if len(fingerprints) == 0 {
		return nil
	}
	d, err := f.readRemovedFingerprintFile(removedFingerprintsFile, key)
	if err != nil {
		f.renameDamagedFile(dir, removedFingerprintsFile, lossReason(removedFingerprintsFile, err))
	}
	if d != nil && f.Now().Sub(d.startTime) >= maxBlockAge {
		if err := os.Rename(filepath.Join(f.Dir, removedFingerprintsFile), filepath.Join(f.Dir,
			oldRemovedFingerprintsFile)); err != nil {
			return err
		}
		d = nil
	}
	if d == nil {
		d = &removedFingerprintFilter{
			startTime: f.Now(),
			data:      make([]byte, removedFileHeaderSize+removedFingerprintFilterBits/8),
		}
	}
	for _, p := range fingerprints {
		d.addFingerprint(p)
	}
	d.writeHeader(key)
	return vfs.WriteFile(dir, removedFingerprintsFile, d.data, 0o600)
}

// readRemovedFingerprints returns the contents of the two files with removed fingerprints. Files that do not exist or
// are too old are left out. If one of the files cannot be read, readRemovedFingerprints returns an error and no
// contents.
func (f Store) readRemovedFingerprints(key *cipherKey) (sets []*removedFingerprintFilter, err error) {
	c := cacheOfDir(f.Dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.updateSize()
	for _, name := range []string{removedFingerprintsFile, oldRemovedFingerprintsFile} {
		d, err := c.readRemovedFingerprintFilter(f, name, key)
		if err != nil {
			return nil, err
		}
		if d != nil && !f.isFilterExpired(d) {
			sets = append(sets, d)
		}
	}
	return sets, nil
}

// readRemovedFingerprintFilter returns the content of a file with removed fingerprints, which it reads only if the file
// was changed since the last call. The result must not be changed. It is nil if the file does not exist. The caller
// must hold c.mu.
func (c *fileCache) readRemovedFingerprintFilter(
	f Store,
	name string,
	key *cipherKey,
) (*removedFingerprintFilter, error) {
	if old, ok := c.removedFingerprintFilters[name]; ok && old.key == string(key.key) {
		if info, err := f.lstat(name); err == nil && old.version.isSame(info) {
			return old.filter, nil
		}
	}
	file, err := f.openRemovedFingerprintFile(name)
	if file == nil {
		delete(c.removedFingerprintFilters, name)
		return nil, err
	}
	defer file.Close()
	// Examine the opened file, and not its path: on Windows, the result of a path is compared with the file that has
	// the path at the time of the comparison.
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	delete(c.removedFingerprintFilters, name)
	d, err := readRemovedFilter(file, key)
	if err != nil {
		return nil, err
	}
	if c.removedFingerprintFilters == nil {
		c.removedFingerprintFilters = map[string]cachedRemovedFilter{}
	}
	c.removedFingerprintFilters[name] = cachedRemovedFilter{fileVersion{info}, string(key.key), d}
	return d, nil
}

// isFilterExpired reports whether all fingerprints in a filter are too old. The newest one was added at most
// maxBlockAge after the filter was begun, and is kept for maxBlockAge. The sum of these times is maxAcceptedBlockAge.
func (f Store) isFilterExpired(d *removedFingerprintFilter) bool {
	return f.Now().Sub(d.startTime) >= maxAcceptedBlockAge
}
