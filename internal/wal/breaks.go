// This file holds faults that tests put in on purpose, to prove that the
// campaigns that look for faults would find them.

package wal

import "github.com/oxbow-memory/oxbow/vfs"

// Breaks is a set of faults. Outside tests it is always empty.
type Breaks uint32

// The faults.
const (
	BreakTailCut     Breaks = 1 << iota // a torn tail is written over, not cut first
	BreakCatchUp                        // a writer does not read what others wrote before it
	BreakIdentity                       // a replaced file goes unnoticed
	BreakShortWrite                     // a failed write is taken for done
	BreakRetrySync                      // a failed sync is tried again on the same file
	BreakDedupe                         // op ids are ignored
	BreakChecksum                       // records are not checked
	BreakDurable                        // a record vouches for itself
	BreakResync                         // damage before the end is taken for a torn tail
	BreakEarlyShow                      // a change is shown before it is durable
	BreakRefresh                        // what others appended last is taken for durable
	BreakEarlyAnswer                    // an answer that rests on a change is given before it is durable
	BreakTailLook                       // what was free before the lock was taken is taken for free
	BreakIntent                         // a file is replaced without a note that its name may not be durable
)

// Breaker is a file system that wants a log broken. Only tests have one.
type Breaker interface{ Breaks() Breaks }

// breaksOf returns the faults that the file system asks for.
func breaksOf(fsys vfs.FS) Breaks {
	if b, ok := fsys.(Breaker); ok {
		return b.Breaks()
	}
	return 0
}

// Spacer is a file system that wants its logs to keep other free space: how much
// is added at a time, and how much is kept for urgent appends, in bytes. Only
// tests have one, to make small files, of which many can be tried.
type Spacer interface{ FreeSpace() (step, reserve int64) }

// spaceOf returns the sizes that the file system asks for, or else the usual
// ones.
func spaceOf(fsys vfs.FS) (step, spare int64) {
	if s, ok := fsys.(Spacer); ok {
		if step, spare := s.FreeSpace(); step > 0 {
			return step, spare
		}
	}
	return minStep, reserve
}

// Broken reports whether the log has that fault.
func (l *Log) Broken(b Breaks) bool { return l.breaks&b != 0 }
