// This file handles the bytes after the last record.

package wal

import (
	"bytes"
	"fmt"
	"io"
	"path"

	"github.com/oxbow-memory/oxbow/vfs"
)

// truncateAtPosition cuts the file off at endOffset, after the last record that was read or appended. It syncs the
// file, so that the change is durable.
func (l *Log) truncateAtPosition() error {
	if err := l.file.Truncate(l.endOffset); err != nil {
		return err
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.fileSize, l.isFreeSpaceChecked = l.endOffset, true
	return nil
}

// truncateTornTail removes the bytes that an interrupted write left after the last record. It saves these bytes in
// another file first.
func (l *Log) truncateTornTail() error {
	torn, err := l.saveTornTail()
	if err != nil {
		return fmt.Errorf("keep the torn tail aside: %w", asDiskFullError(err))
	}
	if torn {
		if err := l.truncateAtPosition(); err != nil {
			return fmt.Errorf("cut the torn tail: %w", err)
		}
	}
	l.isFreeSpaceChecked = true
	return nil
}

// saveTornTail copies the bytes after the last record durably to a file in TornTailsDir. The caller must call
// saveTornTail before it removes these bytes from the log or writes a new log without them. isTorn is false if no bytes
// follow the last record, or if only zeros follow the record.
func (l *Log) saveTornTail() (isTorn bool, err error) {
	if l.isFreeSpaceChecked {
		if l.zerosFromOffset.Load() == l.endOffset {
			// While holding the lock, this process has already found that only zeros follow the last record.
			return false, nil
		}
		var b [prefixSize]byte
		n, err := l.file.ReadAt(b[:], l.endOffset)
		if err != nil && err != io.EOF {
			return false, err
		}
		if isZero(b[:n]) {
			return false, nil
		}
	}
	tail, err := l.readTail()
	if err != nil || len(tail) == 0 {
		return false, err
	}
	dir := l.TornTailsDir()
	if err := l.fs.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	name := fmt.Sprintf("%s/%d-at-%d.torn", dir, l.lastSeq+1, l.endOffset)
	if err := vfs.WriteFile(l.fs, name, tail, 0o600); err != nil {
		return false, err
	}
	// WriteFile has made the file's name durable, but not the name of its directory.
	return true, l.fs.SyncDir(path.Dir(dir))
}

// TornTailsDir returns the directory in which torn tails are saved. It is next to the log.
func (l *Log) TornTailsDir() string { return l.name + ".lost" }

// readTail returns the bytes after the last record, up to the last byte that is not zero, but at most
// MaxBody+RecordOverhead bytes.
func (l *Log) readTail() ([]byte, error) {
	size := l.Size()
	if size <= l.endOffset {
		return nil, nil
	}
	size = min(size-l.endOffset, MaxBody+RecordOverhead)
	var b []byte
	// Usually only a few zeros follow the last record, so that a buffer from the pool is large enough.
	if size <= firstReadSize {
		first := chunkPool.Get().(*[firstReadSize]byte)
		defer chunkPool.Put(first)
		b = first[:size]
	} else {
		b = make([]byte, size)
	}
	n, err := l.file.ReadAt(b, l.endOffset)
	if err != nil && err != io.EOF {
		return nil, err
	}
	const step = 1 << 10
	for b = b[:n]; len(b) >= step && isZero(b[len(b)-step:]); {
		b = b[:len(b)-step]
	}
	return bytes.Clone(bytes.TrimRight(b, "\x00")), nil
}

// TornBytes returns the number of bytes that an interrupted write left after the last record. The next append removes
// these bytes.
func (l *Log) TornBytes() (int, error) {
	if l.file == nil {
		return 0, nil
	}
	tail, err := l.readTail()
	return len(tail), err
}
