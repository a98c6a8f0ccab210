// This file keeps the content of fingerprint files in memory, so that a process that compares many texts, such as a
// server, need not read the files for each text.

package fingerprint

import (
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxCachedFileBytes limits the memory for the cached content of all files together. If it is exceeded, the content of
// the homes that were not used for the longest time is dropped.
const maxCachedFileBytes = 96 << 20

// emptyCacheBytes is the approximate memory for a cache without the content of files.
const emptyCacheBytes = 1<<10 + maxCachedTextIDs*cachedTextIDBytes

// fileCache contains the cached content of a home's fingerprint files.
type fileCache struct {
	// Both have locks of their own.
	checkedFiles checkedFiles
	textIDs      textIDCache

	mu sync.Mutex // guards the following fields

	version     fileVersion // of the file with fingerprints when it was last looked up, or extended by this process
	lookupCount int         // number of lookups in this version, and in versions that only this process has extended
	index       *fingerprintIndex

	// whether building the index of this version has failed, so that the file is scanned for each lookup
	cannotBeIndexed bool

	removedFingerprintFilters map[string]cachedRemovedFilter // by file name

	sizeBytes atomic.Int64 // approximate size of the content, set by updateSize; it can be read without mu
}

// cachedRemovedFilter is the content of a file with removed fingerprints.
type cachedRemovedFilter struct {
	version fileVersion
	key     string // key of the home
	filter  *removedFingerprintFilter
}

// removedFingerprintFilter is a Bloom filter with the fingerprints that were removed from the fingerprint file in one
// period.
type removedFingerprintFilter struct {
	startTime time.Time
	data      []byte // content of the file with the Bloom filter: a header, then the filter's bits
}

// fileCaches contains the caches of all homes whose fingerprints this process has compared with texts.
var fileCaches struct {
	mu     sync.Mutex
	byDir  map[string]*fileCache
	recent []string // directories, those that were used last at the end
}

// cacheOfDir returns the cache for the files in a directory.
func cacheOfDir(dir string) *fileCache {
	full, err := filepath.Abs(dir)
	if err != nil {
		return new(fileCache) // Cache nothing, because another directory could have the same relative path later.
	}
	all := &fileCaches
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byDir == nil {
		all.byDir = map[string]*fileCache{}
	}
	c := all.byDir[full]
	if c == nil {
		c = new(fileCache)
		all.byDir[full] = c
	}
	if n := len(all.recent); n == 0 || all.recent[n-1] != full {
		all.recent = append(slices.DeleteFunc(all.recent, func(d string) bool { return d == full }), full)
	}
	return c
}

// dropOldCaches drops the content of the homes that were not used for the longest time, until maxCachedFileBytes is
// enough for the others. It does not wait for the lock of a cache, because a cache may be locked while a slow disk is
// read.
func dropOldCaches() {
	all := &fileCaches
	all.mu.Lock()
	defer all.mu.Unlock()
	total := 0
	for i, dir := range slices.Backward(all.recent) {
		total += int(all.byDir[dir].sizeBytes.Load())
		if total > maxCachedFileBytes && i < len(all.recent)-1 {
			for _, old := range all.recent[:i+1] {
				delete(all.byDir, old)
			}
			all.recent = slices.Clone(all.recent[i+1:])
			return
		}
	}
}

// updateSize sets sizeBytes. The caller must hold c.mu.
func (c *fileCache) updateSize() {
	size := emptyCacheBytes
	for _, r := range c.removedFingerprintFilters {
		size += len(r.filter.data)
	}
	if c.index != nil {
		size += len(c.index.slots)*indexSlotBytes + c.index.labelBytes
	}
	c.sizeBytes.Store(int64(size))
}

// appendBlocks calls writeBlocks, which appends blocks to the file with fingerprints, and adds the blocks to the index.
// Other goroutines use the index only before or after this. If the file was not the cached one before, appendBlocks
// only calls writeBlocks. It returns the file's description after the write, or nil if the file may contain bytes after
// the blocks.
func (c *fileCache) appendBlocks(
	key *cipherKey,
	file *fileForAppending,
	blocks []byte,
	writeBlocks func() error,
) (infoAfter fs.FileInfo, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.updateSize()
	isCached := c.version.isSame(file.info)
	if err := writeBlocks(); err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err != nil {
		c.index = nil
		return nil, nil // The blocks were written. The next lookup reads the file again.
	}
	if after.Size() == file.validSize+int64(len(blocks)) {
		infoAfter = after
	}
	if !isCached {
		return infoAfter, nil
	}
	c.version = fileVersion{after}
	if c.index == nil {
		return infoAfter, nil
	}
	for len(blocks) > 0 {
		h, err := readBlockHeader(blocks)
		if err == nil {
			body := blocks[blockHeaderSize:h.blockSize()]
			err = c.index.addBlock(key, &h, body[:h.encryptedLabelsSize], body[h.encryptedLabelsSize:])
		}
		if err != nil { // The index would be slow. The blocks can be read, because this process has encoded them.
			c.index = nil
			c.cannotBeIndexed = true
			return infoAfter, nil
		}
		blocks = blocks[h.blockSize():]
	}
	return infoAfter, nil
}
