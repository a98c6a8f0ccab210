// The log as processes share it: locks for looking and for appending, and how far it was
// read.

package logstore

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// sharedLog is the log, to which other processes append, too, and what was read of it.
//
// logmu guards all of it: shared to look, exclusive to read on or append. While appending
// is set its holder has the lock between processes and has read all that others wrote, so
// that the state is fresh and readers need not wait for it. A writer that waits for logmu,
// or has not read yet, holds catching.
type sharedLog struct {
	logmu     sync.RWMutex
	catching  sync.Mutex
	appending atomic.Bool

	log     *wal.Log
	base    uint64        // the change that the log begins after
	from    uint64        // the last change of the snapshot, or base
	offsets []int64       // of the records of the changes after from
	broken  error         // why the log cannot be read any further
	epoch   atomic.Uint64 // rises when the log is read again: what was made of it before may be what was erased
}

// look locks logmu shared, unless the state is fresh.
func (l *sharedLog) look() (locked bool) {
	if l.logmu.TryRLock() {
		return true
	}
	if l.appending.Load() {
		return false
	}
	l.catching.Lock()
	fresh := l.appending.Load()
	l.catching.Unlock()
	if fresh {
		return false
	}
	l.logmu.RLock()
	return true
}

// span returns the numbers of the first and last change that the log holds.
func (l *sharedLog) span() (first, last uint64) {
	l.logmu.RLock()
	defer l.logmu.RUnlock()
	return l.base + 1, l.from + uint64(len(l.offsets))
}

// breaks notes an error that reading again cannot mend. logmu is held exclusively.
func (l *sharedLog) breaks(err error) {
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrVersion) || errors.Is(err, store.ErrNotStore) {
		l.broken = err
	}
}
