// This file defines the disk, which numbers all operations, and the ways to stop the disk at an
// operation.

// Package crashfs simulates a disk that loses data which was not synced. It is only for
// tests.
//
// A [Disk] is used by one or more processes, each a [vfs.FS] of its own. Every operation
// that changes something has a number. The disk can stop at an operation, which simulates a
// crash of the machine. It can end one process, which releases the process's locks and loses
// nothing else. And it can make an operation fail. Afterwards, [Disk.EachImage] lists the
// possible contents of the disk after a crash.
//
// # The model
//
// The model is stricter than any real file system: it gives no guarantee that POSIX does not
// give.
//
//   - A write or a truncation is pending until a Sync of the file, by any
//     handle, returns nil. A Sync makes the bytes and the length durable, but
//     no name.
//   - A create, rename, remove or mkdir is a pending change of names until a
//     SyncDir of its directory returns nil. SyncDir makes no bytes durable. A
//     file whose name is durable and whose bytes are not may be empty.
//   - In a crash each pending change is kept or lost on its own: a later one
//     may be kept while an earlier one is lost.
//   - A change is a new meaning of one name: "this name leads to that inode"
//     or "to nothing". It counts even where a change before it was lost. So a
//     rename whose temporary file's create was lost still gives the new name.
//   - A rename within a directory is kept or lost as a whole. The name that is
//     replaced leads to the old file or to the new one, never to nothing. (A
//     remove of that name that is pending too, before or after, may of course
//     be kept alone and leave nothing.)
//   - A rename of a file between directories is two changes: the new name,
//     then the end of the old one. A crash may leave both names, never
//     neither. To sync the directory of the old name makes both changes
//     durable; to sync that of the new name only the first. A rename of a
//     directory is always one change, which syncing either makes durable.
//   - A directory is never in two places. Where lost renames would have it so,
//     the name that comes first in order keeps it.
//   - A pending write is lost, kept, or kept in part: see [Disk.EachImage].
//     Bytes that are lost read as what was there before, or as zeros after
//     the old end of the file.
//   - After a Sync that failed, what was pending counts as clean: reads still
//     show it, later Syncs succeed and do not make it durable, and every crash
//     from then on may keep or lose it. Only new writes over the same bytes
//     help. Where such a Sync left a truncation, the length becomes
//     durable with the next Sync that succeeds and has something to write.
//     SyncDir fails in the same way.
//   - The operation at which the disk stops was begun: a write or a change of
//     names counts as pending, a Sync or SyncDir as not done. All of it having
//     been done is among the images, too.
package crashfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Errors of operations after a crash.
var (
	ErrCrashed = errors.New("the machine has crashed")
	ErrKilled  = errors.New("the process was killed")
)

// Kind is a kind of operation, or a bitwise OR of several kinds.
type Kind uint16

// Kinds of numbered operations.
const (
	Create   Kind = 1 << iota // a new file, including a lock file
	Write                     // WriteAt
	Truncate                  // Truncate, and opening an existing file with O_TRUNC
	Sync                      // File.Sync
	Rename
	Remove
	Mkdir // one for each directory that is created
	SyncDir
	SyncAll // the sync in Process.SyncAfter
)

var kindNames = []string{"create", "write", "truncate", "sync", "rename", "remove", "mkdir", "syncdir", "syncall"}

// String returns the kind's word, or words joined by "|".
func (k Kind) String() string {
	var words []string
	for i, w := range kindNames {
		if k&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, "|")
}

// Op is an operation that a process requested, whether it succeeded or not.
type Op struct {
	N    int // number, from 1, for the whole disk
	Proc int // number of the process, from 1
	Kind Kind
	Name string
	To   string // new name, for a rename
	Off  int64  // offset of a write, or new length for a truncation
	Len  int    // number of bytes, for a write
	Err  error  // returned error
}

// String describes the operation, such as "#7 write a.log @128+64".
func (o Op) String() string {
	var s string
	switch o.Kind {
	case Write:
		s = fmt.Sprintf("#%d write %s @%d+%d", o.N, o.Name, o.Off, o.Len)
	case Truncate:
		s = fmt.Sprintf("#%d truncate %s to %d", o.N, o.Name, o.Off)
	case Rename:
		s = fmt.Sprintf("#%d rename %s to %s", o.N, o.Name, o.To)
	default:
		s = fmt.Sprintf("#%d %s %s", o.N, o.Kind, o.Name)
	}
	if o.Err != nil {
		s += fmt.Sprintf(" (%v)", o.Err)
	}
	return s
}

// Fault makes an operation fail. It affects the first operation from number At on that is of one of the Kinds.
type Fault struct {
	At      int
	Kinds   Kind  // 0 means any
	Err     error // returned error, such as syscall.EIO or syscall.ENOSPC
	Short   int   // number of bytes that a failing write still writes
	Forever bool  // also affect all later operations
	Done    bool  // perform the operation despite the error
}

// Disk simulates a disk that loses data which was not synced. The methods of a disk and of its processes are
// safe for concurrent use.
type Disk struct {
	mu        sync.Mutex // guards all following fields
	live      *vfs.Mem   // contents as processes see them (page cache)
	state     diskState  // durable contents and pending operations
	log       []Op
	stopAt    int // 0 means never
	isStopped bool
	faults    []Fault
	procs     int
	locks     map[uint64]*fileLock // by the inode of the lock file
}

// New returns a disk with a durable copy of img. If img is nil, the disk is empty.
func New(img *vfs.Mem) *Disk {
	live := vfs.NewMem()
	if img != nil {
		live = img.Clone()
	}
	return &Disk{live: live, state: newState(live), locks: make(map[uint64]*fileLock)}
}

// Process returns a new process, which is the file system as that process sees it.
func (d *Disk) Process() *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.procs++
	return &Process{disk: d, id: d.procs, heldLocks: make(map[*fileLock]bool)}
}

// Kill ends a process, so that the process's locks are released and its files are closed. The data
// that the process wrote stays in the page cache, and can still be lost in a crash.
func (d *Disk) Kill(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.killNow()
}

// KillAt ends the process at operation n, if the process performs that operation. See
// [Disk.StopAt] for the fate of the operation.
func (d *Disk) KillAt(p *Process, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.killAt = n
}

// StopAt makes the machine crash at operation n: this operation and all later ones return
// [ErrCrashed]. 0 means never.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = n
}

// Stop makes the machine crash now.
func (d *Disk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.isStopped = true
}

// HasCrashed reports whether the machine has crashed.
func (d *Disk) HasCrashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isStopped
}

// Inject adds a fault.
func (d *Disk) Inject(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
}

// Mend removes all remaining faults.
func (d *Disk) Mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// CountOps returns the number of operations so far.
func (d *Disk) CountOps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Log returns the operations so far, in order. The caller must not modify the slice.
func (d *Disk) Log() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.log)
}

// Live returns a copy of the contents as processes see them. They remain if all processes
// are killed and the machine keeps running.
func (d *Disk) Live() *vfs.Mem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.live.Clone()
}

// Clone returns a copy of the disk with its pending operations, as if all processes had been
// killed. The copy has no processes, locks or faults, and no stop. It continues the
// numbering of operations.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{
		live:  d.live.Clone(),
		state: d.state.copyState(),
		log:   slices.Clip(d.log),
		locks: make(map[uint64]*fileLock),
	}
}

// doOp numbers an operation and performs it or lets it fail. The caller holds mu and has checked
// that the process is alive. If a fault occurs and fail is not nil, doOp calls fail for the
// remaining effects of the failed operation.
func (p *Process) doOp(op Op, perform func(op Op) error, fail func(op Op, f Fault)) error {
	d := p.disk
	op.N, op.Proc = len(d.log)+1, p.id
	last := op.N == d.stopAt || op.N == p.killAt
	var err error
	switch fault, struck := d.matchFault(op); {
	case last && op.Kind&(Sync|SyncDir) != 0:
	case !struck:
		err = perform(op)
	default:
		if fault.Done {
			err = perform(op)
		} else if fail != nil {
			fail(op, fault)
		}
		if err == nil {
			err = fault.Err
			if op.Kind == Rename {
				err = &os.LinkError{Op: "rename", Old: op.Name, New: op.To, Err: err}
			} else {
				err = &fs.PathError{Op: op.Kind.String(), Path: op.Name, Err: err}
			}
		}
	}
	if op.N == p.killAt {
		p.killNow()
		err = ErrKilled
	}
	if op.N == d.stopAt {
		d.isStopped = true
		err = ErrCrashed
	}
	op.Err = err
	d.log = append(d.log, op)
	return err
}

// matchFault returns the fault that affects the operation. The bool is false if there is none.
func (d *Disk) matchFault(op Op) (Fault, bool) {
	for i, f := range d.faults {
		isOtherKind := f.Kinds != 0 && f.Kinds&op.Kind == 0
		if isOtherKind || op.N < f.At {
			continue
		}
		if !f.Forever {
			d.faults = slices.Delete(d.faults, i, i+1)
		}
		return f, true
	}
	return Fault{}, false
}

// inodeNumber returns the number of the inode to which a name refers now.
func (d *Disk) inodeNumber(name string) (uint64, error) {
	info, err := d.live.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Sys().(uint64), nil
}

// parentEntry returns the inode of a name's directory, which must exist, and the last element of
// the name.
func (d *Disk) parentEntry(name string) (dir uint64, base string, err error) {
	dir, err = d.inodeNumber(path.Dir(name))
	return dir, path.Base(name), err
}
