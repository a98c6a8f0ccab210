// This file remembers which blocks a file has, so that a text that is read again does not get a second block.

package fingerprint

import (
	"bytes"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// recentBlockBytes is the size of the file end, in bytes, that is searched for equal blocks when a process
	// first stores a block.
	recentBlockBytes = 256 << 10

	repeatInterval = 24 * time.Hour // a block that is older is written again
)

// recentBlocks contains the blocks near the end of a file, and later the blocks that were appended to it, by this
// process or by another. It is used only while the lock of the directory is held.
type recentBlocks struct {
	times    map[uint64]time.Time // when the blocks were added, by their identifier
	end      int64                // the blocks before this offset are known
	lastHead []byte               // head of the last block before end
	lastAt   int64                // offset of lastHead
}

// recentFiles maps the absolute path of each file to which this process has added blocks to its *recentBlocks.
var recentFiles sync.Map

func recentBlocksOf(path string) *recentBlocks {
	full, err := filepath.Abs(path)
	if err != nil {
		return new(recentBlocks) // the end of the file is read each time
	}
	r, _ := recentFiles.LoadOrStore(full, new(recentBlocks))
	return r.(*recentBlocks)
}

// readNew reads the blocks that were appended to the file since the last call. The file has this size. If the
// file was replaced, readNew forgets its blocks and reads the end of the new file. A part that cannot be read
// has no known blocks, so their texts get a second block.
func (r *recentBlocks) readNew(file vfs.File, size int64) {
	if !r.isOf(file, size) {
		*r = recentBlocks{times: map[uint64]time.Time{}}
	}
	from := max(r.end, headerSize, size-recentBlockBytes)
	b := make([]byte, size-from)
	n, _ := file.ReadAt(b, from)
	b = b[:n]
	for at := 0; at < len(b); {
		next := bytes.Index(b[at:], blockMagic)
		if next < 0 {
			break
		}
		at += next
		h, err := readHead(b[at:])
		if err != nil {
			at++
			continue
		}
		r.times[h.id] = h.time
		r.lastHead, r.lastAt = bytes.Clone(h.encoded), from+int64(at)
		at += h.blockSize()
	}
	r.end = size
}

// isOf reports whether the known blocks are blocks of the file, because the file still has the last of them.
func (r *recentBlocks) isOf(file vfs.File, size int64) bool {
	if r.lastHead == nil || r.end > size {
		return false
	}
	head := make([]byte, blockHeadSize)
	_, err := file.ReadAt(head, r.lastAt)
	return err == nil && bytes.Equal(head, r.lastHead)
}

// isRepeat reports whether the file has a block with this identifier that is so new that it need not be written
// again.
func (r *recentBlocks) isRepeat(id uint64, now time.Time) bool {
	t, known := r.times[id]
	return known && now.Sub(t) < repeatInterval
}
