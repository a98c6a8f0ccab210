// The disk: its numbered operations, and the ways to end them.

// Package crashfs is a disk for tests that loses what was not synced. Ordinary
// code does not import it.
//
// A [Disk] is used by one or more processes, each a [vfs.FS] of its own. It
// numbers every operation that changes something. It can stop at an operation,
// which is a crash of the machine, end one process, which releases its locks
// and loses nothing else, or make an operation fail. After that,
// [Disk.Images] lists the disks that a crash may leave.
//
// # The model
//
// It is stricter than any real file system: what it does not promise, POSIX
// does not promise either.
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
//   - A pending write is lost, kept, or kept in part: see [Disk.Images].
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

// The errors of operations after a crash.
var (
	ErrCrashed = errors.New("the machine has crashed")
	ErrKilled  = errors.New("the process was killed")
)

// Kind is a kind of operation, or a set of them joined by or.
type Kind uint16

// The kinds of operations that are numbered.
const (
	Create   Kind = 1 << iota // a new file, also that of a lock
	Write                     // WriteAt
	Truncate                  // Truncate, and O_TRUNC of a file that exists
	Sync                      // File.Sync
	Rename
	Remove
	Mkdir // one for each directory that is made
	SyncDir
	SyncAll // the sync of Process.SyncAfter
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

// Op is one operation that was asked for, done or not.
type Op struct {
	N    int // from 1 up, over the whole disk
	Proc int // the process, from 1 up
	Kind Kind
	Name string
	To   string // the new name of a rename
	Off  int64  // where a write starts, or the new length of a truncation
	Len  int    // bytes of a write
	Err  error  // what it returned
}

// String returns the operation in a line, such as "#7 write a.log @128+64".
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

// Fault makes an operation fail. It hits the first operation numbered At or
// later that is of one of the Kinds.
type Fault struct {
	At      int
	Kinds   Kind  // 0 means any
	Err     error // what it returns, such as syscall.EIO or syscall.ENOSPC
	Short   int   // bytes that a write still writes, fewer than it has
	Forever bool  // hit all that follow, too
	Done    bool  // the operation is done all the same: its error is wrong
}

// Disk is a disk that loses what was not synced. Its methods, and those of its
// processes, are safe for concurrent use.
type Disk struct {
	mu      sync.Mutex // guards all below
	live    *vfs.Mem   // what the processes see: the page cache
	state   state      // what the disk holds, and what is pending
	log     []Op
	stopAt  int // 0 means never
	stopped bool
	faults  []Fault
	procs   int
	locks   map[uint64]*lock // by the inode that carries them
}

// New returns a disk that holds a copy of img, all of it durable. A nil img
// means an empty disk.
func New(img *vfs.Mem) *Disk {
	live := vfs.NewMem()
	if img != nil {
		live = img.Clone()
	}
	return &Disk{live: live, state: newState(live), locks: make(map[uint64]*lock)}
}

// Process returns the file system as a new process sees it.
func (d *Disk) Process() *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.procs++
	return &Process{d: d, id: d.procs, held: make(map[*lock]bool)}
}

// Kill ends a process: its locks are free and its files closed. What it wrote
// stays in the page cache, pending as before.
func (d *Disk) Kill(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.kill()
}

// KillAt makes the process end at the operation of that number, if that is its
// own. See [Disk.StopAt] for what becomes of the operation.
func (d *Disk) KillAt(p *Process, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.killAt = n
}

// StopAt makes the machine crash at the operation of that number: it and all
// that follows return [ErrCrashed]. 0 means never.
func (d *Disk) StopAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopAt = n
}

// Stop makes the machine crash now.
func (d *Disk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// Stopped reports whether the machine has crashed.
func (d *Disk) Stopped() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// Inject adds a fault.
func (d *Disk) Inject(f Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
}

// Mend takes all faults away that have not struck yet or strike forever.
func (d *Disk) Mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// Ops returns how many operations there were.
func (d *Disk) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.log)
}

// Log returns the operations so far, in order. The caller must not change it.
func (d *Disk) Log() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.log)
}

// Live returns a copy of what the processes see, which is what remains when
// all of them are killed and the machine runs on.
func (d *Disk) Live() *vfs.Mem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.live.Clone()
}

// Clone returns a copy of the disk as it is, with what is pending, as if all
// processes had been killed: it has none, no locks, no faults, and does not
// stop. It numbers its operations on from here.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{
		live:  d.live.Clone(),
		state: d.state.clone(),
		log:   slices.Clip(d.log),
		locks: make(map[uint64]*lock),
	}
}

// do numbers an operation and performs it, or else lets it fail. The caller
// holds mu and has checked that the process lives. fail, which may be nil,
// does what is left to do when a fault strikes.
func (p *Process) do(op Op, perform func(op Op) error, fail func(op Op, f Fault)) error {
	d := p.d
	op.N, op.Proc = len(d.log)+1, p.id
	last := op.N == d.stopAt || op.N == p.killAt
	var err error
	switch fault, struck := d.strike(op); {
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
		p.kill()
		err = ErrKilled
	}
	if op.N == d.stopAt {
		d.stopped = true
		err = ErrCrashed
	}
	op.Err = err
	d.log = append(d.log, op)
	return err
}

// strike returns the fault that hits the operation, if there is one.
func (d *Disk) strike(op Op) (Fault, bool) {
	for i, f := range d.faults {
		if op.N < f.At || (f.Kinds != 0 && f.Kinds&op.Kind == 0) {
			continue
		}
		if !f.Forever {
			d.faults = slices.Delete(d.faults, i, i+1)
		}
		return f, true
	}
	return Fault{}, false
}

// ino returns the number of the inode that a name leads to now.
func (d *Disk) ino(name string) (uint64, error) {
	info, err := d.live.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Sys().(uint64), nil
}

// entry returns what a change of a name needs: the directory's inode and the
// last part. The directory exists.
func (d *Disk) entry(name string) (dir uint64, base string, err error) {
	dir, err = d.ino(path.Dir(name))
	return dir, path.Base(name), err
}
