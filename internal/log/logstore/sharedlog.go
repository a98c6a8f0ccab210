// This file has the log that several processes share, with its locks and the part that was
// read.

package logstore

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// sharedLog is the log, to which other processes also append, and the part of it that this
// process has read.
//
// logmu guards all fields. It is held shared for reading, and exclusively to read new
// records or to append. While appending is set, its holder has the lock between processes
// and has read all changes of others, so that the state is current and readers do not have
// to wait. A writer that waits for logmu or has not read these changes yet holds catching.
type sharedLog struct {
	logmu       sync.RWMutex
	catchUpMu   sync.Mutex
	isAppending atomic.Bool

	log           *wal.Log
	base          uint64  // number of the change before the first change in the log
	startSeq      uint64  // number of the last change in the snapshot or base
	changeOffsets []int64 // record offsets of changes after from
	brokenErr     error   // error that prevents further reading of the log
	// incremented when the log is read again, because data derived in an earlier epoch may
	// contain redacted texts
	epoch atomic.Uint64
}

// lockUnlessCurrent acquires logmu for reading and returns true. If a writer of this process is appending, it returns
// false without the lock. Then the state contains all acknowledged changes, because the writer has read the changes of
// other processes before it appends.
func (l *sharedLog) lockUnlessCurrent() (locked bool) {
	if l.logmu.TryRLock() {
		return true
	}
	if l.isAppending.Load() {
		return false
	}
	l.catchUpMu.Lock()
	fresh := l.isAppending.Load()
	l.catchUpMu.Unlock()
	if fresh {
		return false
	}
	l.logmu.RLock()
	return true
}

// changeRange returns the numbers of the first and last change in the log.
func (l *sharedLog) changeRange() (first, last uint64) {
	l.logmu.RLock()
	defer l.logmu.RUnlock()
	return l.base + 1, l.startSeq + uint64(len(l.changeOffsets))
}

// recordBroken records an error that reading again cannot fix. logmu must be held exclusively.
func (l *sharedLog) recordBroken(err error) {
	switch {
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrVersion), errors.Is(err, store.ErrNotStore):
		l.brokenErr = err
	}
}
