// This file contains the log that several processes share, with the locks and the part that this process has read.

package logstore

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// sharedLog is the log, to which other processes may also append, and the part of the log that this process has read.
//
// logmu guards all fields. To use the fields, a goroutine holds logmu shared. To read new records or to append, it
// holds logmu exclusively. isAppending is set while the goroutine that holds logmu also holds the lock between
// processes and has read all changes of other processes. During this time the state is current, so readers need not
// wait. A writer holds readNewRecordsMu while it waits for logmu and reads the changes of other processes.
type sharedLog struct {
	logmu            sync.RWMutex
	readNewRecordsMu sync.Mutex
	isAppending      atomic.Bool

	log *wal.Log
	// number of the last change that the last compaction dropped; the log contains the changes after it
	lastDroppedChange uint64
	// number of the last change in the snapshot (without a snapshot: the last change that a compaction dropped)
	lastSnapshotChange uint64
	changeOffsets      []int64 // offsets in the log of the changes after lastSnapshotChange
	brokenErr          error   // error because of which the log cannot be read any more
	// The epoch increases when the log file is read again from its start. Data that were derived in an earlier epoch
	// must not be used, because they may contain texts that a redaction has removed.
	logEpoch atomic.Uint64
}

// lockUnlessAppending acquires logmu for reading and returns true. If a goroutine of this process is appending, it
// acquires nothing and returns false. The lock is not needed then: the state contains all acknowledged changes,
// because a writer reads the changes of other processes before it appends.
func (l *sharedLog) lockUnlessAppending() (locked bool) {
	if l.logmu.TryRLock() {
		return true
	}
	if l.isAppending.Load() {
		return false
	}
	l.readNewRecordsMu.Lock()
	fresh := l.isAppending.Load()
	l.readNewRecordsMu.Unlock()
	if fresh {
		return false
	}
	l.logmu.RLock()
	return true
}

// changeNumberRange returns the numbers of the first and the last change in the log. If the log contains no changes,
// last is first-1.
func (l *sharedLog) changeNumberRange() (first, last uint64) {
	l.logmu.RLock()
	defer l.logmu.RUnlock()
	return l.lastDroppedChange + 1, l.lastSnapshotChange + uint64(len(l.changeOffsets))
}

// recordBrokenLog stores err in brokenErr if the error means that the log is corrupt, has another version or is not a
// store, because reading the log again cannot fix these errors. It ignores all other errors. The caller must hold logmu
// exclusively.
func (l *sharedLog) recordBrokenLog(err error) {
	switch {
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrVersion), errors.Is(err, store.ErrNotStore):
		l.brokenErr = err
	}
}
