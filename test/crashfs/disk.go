// This file defines the disk. The disk numbers all operations, and can stop at an operation or make it fail.

// Package crashfs simulates a disk that loses unsynced data. It is only for tests.
//
// One or more processes use a [Disk]. Each process is a separate [vfs.FS]. Every operation that changes something has a
// number. The disk can do three things at an operation:
//
//   - Stop, which simulates a crash of the machine.
//   - End one process. This releases the locks of the process and loses nothing else.
//   - Make the operation fail.
//
// Afterwards, [Disk.EachCrashFileSystem] lists the possible contents of the disk after a crash. A possible content is
// also called an image.
//
// # The model
//
// The model is stricter than any real file system: it gives no guarantee that POSIX does not give.
//
//   - A write or a truncation is pending until a Sync of the file, by any handle, returns nil. A Sync makes the bytes
//     and the length durable, but no name.
//   - A create, rename, remove or mkdir is a pending change of names. It is pending until a SyncDir of its directory
//     returns nil. SyncDir makes no bytes durable, so a file whose name is durable may be empty.
//   - A crash keeps or loses each pending change independently of the others. It may keep a later change and lose an
//     earlier one.
//   - A change gives one name a new meaning: "this name leads to that inode" or "to nothing". It does not need the
//     changes before it. Therefore a rename of a temporary file creates the new name even if the create of the
//     temporary file was lost.
//   - A crash keeps or loses a rename within a directory as a whole. A name that the rename replaces leads to the old
//     file or to the new one, never to nothing. (If a remove of that name is pending too, the crash may keep only the
//     remove and leave nothing.)
//   - A rename of a file between directories is two changes: first the new name, then the end of the old name. A crash
//     may leave both names, but never neither. A sync of the old directory makes both changes durable. A sync of the
//     new directory makes only the first change durable. A rename of a directory is always one change. A sync of either
//     directory makes it durable.
//   - A directory never has two names. If lost renames would give a directory two names, it keeps the name that comes
//     first in order.
//   - A pending write is lost, kept, or kept in part (see [Disk.EachCrashFileSystem]). In place of lost bytes, readers
//     find the earlier bytes, or zeros after the old end of the file.
//   - After a failed Sync, the pending changes count as clean. Reads still show them. Later Syncs succeed without
//     making them durable, and every later crash may keep or lose them. They become durable only if their bytes are
//     written again. If a truncation was pending at the failed Sync, its length becomes durable with the next Sync that
//     succeeds and has something to write. SyncDir fails in the same way.
//   - The operation at which the disk stops has begun. If it is a write or a change of names, it is pending. If it is a
//     Sync or SyncDir, it has made nothing durable. Therefore one of the possible contents contains the operation
//     completely.
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

// After the simulated machine has crashed, all file operations return ErrCrashed. After a simulated process was
// killed, its operations return ErrKilled.
var (
	ErrCrashed = errors.New("the machine has crashed")
	ErrKilled  = errors.New("the process was killed")
)

// OpKind is a kind of operation. Several kinds can be combined by a bitwise OR.
type OpKind uint16

// The disk counts operations of these kinds, so that a test can let a crash or a fault happen at the operation with a
// certain number.
const (
	OpCreate   OpKind = 1 << iota // creation of a file or lock file
	OpWrite                       // a call of WriteAt
	OpTruncate                    // one call of Truncate, or OpenFile with O_TRUNC for an existing file
	OpSync                        // one call of File.Sync
	OpRename
	OpRemove
	OpMkdir // creation of one directory
	OpSyncDir
	OpSyncAll // the sync of the whole disk with which Process.SyncAfter ends
)

var opKindNames = []string{"create", "write", "truncate", "sync", "rename", "remove", "mkdir", "syncdir", "syncall"}

// String returns the name of the kind. For several kinds, it joins the names by "|".
func (k OpKind) String() string {
	var words []string
	for i, w := range opKindNames {
		if k&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return strings.Join(words, "|")
}

// Op records an operation that a process requested. The operation may have failed.
type Op struct {
	Number        int // number of the operation on this disk, from 1
	ProcessNumber int // number of the process that requested the operation, from 1
	Kind          OpKind
	Name          string
	NewName       string // new name of a rename
	Off           int64  // offset for a write, or new length for a truncation
	Len           int    // number of bytes in a write
	Err           error  // error that the process got (nil if the operation succeeded)
}

// String describes the operation, such as "#7 write a.log @128+64".
func (o Op) String() string {
	var s string
	switch o.Kind {
	case OpWrite:
		s = fmt.Sprintf("#%d write %s @%d+%d", o.Number, o.Name, o.Off, o.Len)
	case OpTruncate:
		s = fmt.Sprintf("#%d truncate %s to %d", o.Number, o.Name, o.Off)
	case OpRename:
		s = fmt.Sprintf("#%d rename %s to %s", o.Number, o.Name, o.NewName)
	default:
		s = fmt.Sprintf("#%d %s %s", o.Number, o.Kind, o.Name)
	}
	if o.Err != nil {
		s += fmt.Sprintf(" (%v)", o.Err)
	}
	return s
}

// OpFault makes an operation fail. It strikes the first operation whose kind is in Kinds and whose number is
// FirstOpNumber or more.
type OpFault struct {
	FirstOpNumber int
	Kinds         OpKind // kinds of file operations that can fail, such as Write (0 means all)
	Err           error  // error that the process gets, such as syscall.EIO or syscall.ENOSPC
	WrittenBytes  int    // number of bytes that a write still writes before it fails
	IsPermanent   bool   // whether the fault also strikes all later operations of the Kinds
	Done          bool   // whether the operation is performed before it returns Err
}

// Disk simulates a disk that loses unsynced data. Several goroutines may call the methods of a disk and its processes
// at the same time.
type Disk struct {
	mu            sync.Mutex // mu guards all fields below.
	liveFiles     *vfs.Mem   // contents that processes see, durable or not (page cache)
	state         diskState  // durable contents, and the operations that are pending
	opLog         []Op
	crashOpNumber int // number of the operation at which the machine crashes (0 means none)
	hasCrashed    bool
	faults        []OpFault
	processCount  int
	locks         map[uint64]*fileLock // held locks, by the inode of the lock file
}

// New returns a disk with a durable copy of img. If img is nil, the disk is empty.
func New(img *vfs.Mem) *Disk {
	live := vfs.NewMem()
	if img != nil {
		live = img.Clone()
	}
	return &Disk{liveFiles: live, state: newDiskState(live), locks: make(map[uint64]*fileLock)}
}

// StartProcess starts a process on the disk. The result is the file system as the process sees it.
func (d *Disk) StartProcess() *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.processCount++
	return &Process{disk: d, id: d.processCount, heldLocks: make(map[*fileLock]bool)}
}

// Kill ends a process now. This closes the files of the process and releases its locks. Data that the process wrote
// stays in the page cache, and a crash can still lose this data.
func (d *Disk) Kill(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.killNow()
}

// KillAt makes the process p end when it performs the disk operation number opNumber. The operations of all processes
// are numbered together. If another process performs this operation, p does not end. The operation returns [ErrKilled].
// Its effect on the disk happens before p ends, except that a sync of a file or a directory does not happen.
func (d *Disk) KillAt(p *Process, opNumber int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p.killOpNumber = opNumber
}

// StopAt makes the machine crash at operation opNumber. This operation and all later ones return [ErrCrashed]. If
// opNumber is 0, the machine does not crash.
func (d *Disk) StopAt(opNumber int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashOpNumber = opNumber
}

// Stop makes the simulated machine crash now, between two operations.
func (d *Disk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hasCrashed = true
}

// HasCrashed reports whether the machine has crashed.
func (d *Disk) HasCrashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hasCrashed
}

// Inject adds a fault to the disk. If several faults fit an operation, the one that was added first makes it fail.
func (d *Disk) Inject(f OpFault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, f)
}

// Mend removes all faults that were added with Inject and have not happened yet, so that later operations succeed.
func (d *Disk) Mend() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = nil
}

// CountOps returns the number of operations so far. It is also the number of the last operation.
func (d *Disk) CountOps() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.opLog)
}

// Log returns the operations so far, in order. The caller must not modify the slice.
func (d *Disk) Log() []Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clip(d.opLog)
}

// CopyLiveFiles returns a copy of the contents that processes see. They are what remains if all processes are killed
// and the machine does not crash.
func (d *Disk) CopyLiveFiles() *vfs.Mem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.liveFiles.Clone()
}

// Clone returns a copy of the disk, including its pending operations. The copy has no processes and no locks, like a
// disk after all processes were killed. Faults and planned crashes are not copied. The log of operations is copied, so
// that the numbers of new operations continue after the copied ones.
func (d *Disk) Clone() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{
		liveFiles: d.liveFiles.Clone(),
		state:     d.state.copyState(),
		opLog:     slices.Clip(d.opLog),
		locks:     make(map[uint64]*fileLock),
	}
}

// performOp gives an operation the next number, performs the operation, and records it in the log of the disk. The
// function perform performs the operation. The caller holds p.disk.mu and has checked that the process is alive.
//
// A test can request a fault for an operation. The fault decides what performOp does:
//   - If the fault's field Done is true, performOp calls perform and then returns the fault's error. If perform fails,
//     performOp returns the error of perform instead.
//   - If Done is false, performOp does not call perform. It calls the function fail, which performs only a part of the
//     operation, and returns the fault's error. If fail is nil, performOp performs nothing.
//
// A test can also choose the operation at which the disk crashes, or at which the process is killed. Before the crash
// or the kill, performOp performs the operation as described above, but an OpSync or OpSyncDir is not performed. If the
// disk crashes, performOp returns ErrCrashed. If only the process is killed, it returns ErrKilled.
func (p *Process) performOp(op Op, perform func(op Op) error, fail func(op Op, f OpFault)) error {
	d := p.disk
	op.Number, op.ProcessNumber = len(d.opLog)+1, p.id
	last := op.Number == d.crashOpNumber || op.Number == p.killOpNumber
	var err error
	switch fault, struck := d.matchFault(op); {
	case last && op.Kind&(OpSync|OpSyncDir) != 0:
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
			if op.Kind == OpRename {
				err = &os.LinkError{Op: "rename", Old: op.Name, New: op.NewName, Err: err}
			} else {
				err = &fs.PathError{Op: op.Kind.String(), Path: op.Name, Err: err}
			}
		}
	}
	if op.Number == p.killOpNumber {
		p.killNow()
		err = ErrKilled
	}
	if op.Number == d.crashOpNumber {
		d.hasCrashed = true
		err = ErrCrashed
	}
	op.Err = err
	d.opLog = append(d.opLog, op)
	return err
}

// matchFault returns the fault that makes the operation op fail. The second result is false if there is no such fault.
// A fault that is not permanent is removed, so that it happens only once.
func (d *Disk) matchFault(op Op) (OpFault, bool) {
	for i, f := range d.faults {
		isOtherKind := f.Kinds != 0 && f.Kinds&op.Kind == 0
		if isOtherKind || op.Number < f.FirstOpNumber {
			continue
		}
		if !f.IsPermanent {
			d.faults = slices.Delete(d.faults, i, i+1)
		}
		return f, true
	}
	return OpFault{}, false
}

// inodeNumber returns the number of the inode to which the name leads now, whether the name is durable or not.
func (d *Disk) inodeNumber(name string) (uint64, error) {
	info, err := d.liveFiles.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Sys().(uint64), nil
}

// parentEntry splits a path into its directory and its last element. It returns the inode number of the directory,
// which must exist, and the last element.
func (d *Disk) parentEntry(name string) (dir uint64, base string, err error) {
	dir, err = d.inodeNumber(path.Dir(name))
	return dir, path.Base(name), err
}
