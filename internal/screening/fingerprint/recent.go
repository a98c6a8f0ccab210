// This file remembers which texts' fingerprints were written recently, so that the fingerprints of a text that is read
// again are not stored twice.

package fingerprint

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// recentBlockBytes is how many bytes at the end of a fingerprint file are read to find the texts that were added
	// recently. They are read when this process adds fingerprints for the first time.
	recentBlockBytes = 256 << 10

	blockRewriteInterval = 24 * time.Hour // if a text's fingerprints are older than this, they are written again
)

// recentBlockIDs contains the identifiers of the blocks near a file's end, including blocks appended later by this or
// another process.
type recentBlockIDs struct {
	mu sync.Mutex // guards the following fields

	addedTimesByID  map[uint64]time.Time // for the identifier of each block, when the block was added
	readEndOffset   int64                // the file's blocks before this offset have been read
	lastBlockHeader []byte               // first bytes (the head) of the last block that was read
	lastBlockOffset int64                // offset in the file of the last block that was read

	// version is the file whose blocks have been read. It is unknown if the file may contain bytes after the blocks.
	version fileVersion
}

// recentBlockIDsByFile contains the *recentBlockIDs of each file to which this process has added blocks, by the file's
// absolute path.
var recentBlockIDsByFile sync.Map

func cachedRecentBlocks(path string) *recentBlockIDs {
	full, err := filepath.Abs(path)
	if err != nil {
		// If the absolute path is unknown, cache nothing. The end of the file is then read each time.
		return new(recentBlockIDs)
	}
	r, ok := recentBlockIDsByFile.Load(full)
	if !ok {
		r, _ = recentBlockIDsByFile.LoadOrStore(full, new(recentBlockIDs))
	}
	return r.(*recentBlockIDs)
}

// readNewBlocks adds to r the blocks that were appended to a file since the last call. At the first call, or if the
// file was replaced, readNewBlocks forgets all blocks and reads only the last recentBlockBytes bytes. Blocks that
// cannot be read stay unknown, so their texts may be added to the file a second time. The caller must hold r.mu.
func (r *recentBlockIDs) readNewBlocks(file *fileForAppending) {
	size := file.validSize
	if r.version.isSame(file.info) && r.readEndOffset == size {
		return
	}
	if !r.isFromFile(file, size) {
		r.addedTimesByID = map[uint64]time.Time{}
		r.readEndOffset = 0
	}
	from := max(r.readEndOffset, headerSize, size-recentBlockBytes)
	b := make([]byte, size-from)
	n, _ := file.ReadAt(b, from)
	r.addBlocks(b[:n], from)
	r.readEndOffset = size
	r.version = fileVersion{}
	if file.info.Size() == size {
		r.version = fileVersion{file.info}
	}
}

// addBlocks adds the identifiers of the blocks in b, which begins at the offset in the file.
func (r *recentBlockIDs) addBlocks(b []byte, offset int64) {
	for at := 0; at < len(b); {
		next := bytes.Index(b[at:], blockMagic)
		if next < 0 {
			break
		}
		at += next
		h, err := readBlockHeader(b[at:])
		if err != nil {
			at++
			continue
		}
		r.addedTimesByID[h.blockID] = h.time
		r.lastBlockHeader, r.lastBlockOffset = bytes.Clone(h.encoded), offset+int64(at)
		at += h.blockSize()
	}
}

// addWrittenBlocks adds to r the blocks that this process has just appended to a file. The argument infoAfter describes
// the file after the blocks were written, or is nil if the file may contain bytes after the blocks. If the file's
// earlier blocks have not been read, addWrittenBlocks does nothing, and the next call of readNewBlocks reads the new
// blocks. The caller must hold r.mu.
func (r *recentBlockIDs) addWrittenBlocks(file *fileForAppending, blocks []byte, infoAfter fs.FileInfo) {
	if !r.version.isSame(file.info) || r.readEndOffset != file.validSize {
		return
	}
	r.addBlocks(blocks, file.validSize)
	r.readEndOffset += int64(len(blocks))
	r.version = fileVersion{infoAfter}
}

// isFromFile reports whether the blocks remembered in r belong to the fingerprint file. They do if the last remembered
// block is still at the same offset.
func (r *recentBlockIDs) isFromFile(file vfs.File, size int64) bool {
	if r.lastBlockHeader == nil || r.readEndOffset > size {
		return false
	}
	head := make([]byte, blockHeaderSize)
	_, err := file.ReadAt(head, r.lastBlockOffset)
	return err == nil && bytes.Equal(head, r.lastBlockHeader)
}

// isRecentBlock reports whether a block with this identifier was added so recently that it need not be written again.
func (r *recentBlockIDs) isRecentBlock(id uint64, now time.Time) bool {
	t, known := r.addedTimesByID[id]
	return known && now.Sub(t) < blockRewriteInterval
}
