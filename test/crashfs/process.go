// This file implements the file system that one process sees.

package crashfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Process is a process that uses a [Disk]. After the process was killed, its calls return [ErrKilled]. After the
// machine has crashed, they return [ErrCrashed].
type Process struct {
	disk         *Disk
	id           int
	isDead       bool // The mutex of the disk guards this field and the following ones.
	killOpNumber int
	heldLocks    map[*fileLock]bool
	files        []*openFile // files that the process has open
}

var (
	_ vfs.FS           = (*Process)(nil)
	_ vfs.TempNumberer = (*Process)(nil)
	_ vfs.BulkSyncer   = (*Process)(nil)
)

// killNow ends the simulated process. The caller holds the mutex of the simulated disk.
func (p *Process) killNow() {
	p.isDead = true
	for l := range p.heldLocks {
		l.releaseLock()
	}
	for _, f := range p.files {
		f.node.openCount--
	}
	p.files = nil
}

// checkAlive returns [ErrKilled] if the process was killed, [ErrCrashed] if the machine has crashed, and otherwise nil.
// The caller must hold the mutex of the disk.
func (p *Process) checkAlive() error {
	switch {
	case p.disk.hasCrashed:
		return ErrCrashed
	case p.isDead:
		return ErrKilled
	}
	return nil
}

// NextTemp returns the next number for the name of a temporary file. No other process of the disk gets the same
// number.
func (p *Process) NextTemp() uint64 { return p.disk.liveFiles.NextTemp() }

// OpenFile opens a file. If it creates the file or truncates an existing one, this counts as one operation.
func (p *Process) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	info, err := p.disk.liveFiles.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		return p.createFile(name, flag, perm)
	case err != nil || info.IsDir() || flag&os.O_TRUNC == 0:
		f, err := p.disk.liveFiles.OpenFile(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return p.newFile(f, name), nil
	}
	// A combination of flags that is not allowed with O_TRUNC fails at once, so it is not numbered as a disk
	// operation.
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 || flag&os.O_EXCL != 0 {
		return p.disk.liveFiles.OpenFile(name, flag, perm)
	}
	mem, err := p.disk.liveFiles.OpenFile(name, flag&^os.O_TRUNC, perm)
	if err != nil {
		return nil, err
	}
	f := p.newFile(mem, name)
	if err := f.truncateTo(0); err != nil {
		f.closeFile()
		return nil, err
	}
	return f, nil
}

// createFile creates a file that does not exist, and opens it.
func (p *Process) createFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	var f *openFile
	err := p.performOp(Op{Kind: OpCreate, Name: name}, func(op Op) error {
		mem, err := p.disk.liveFiles.OpenFile(name, flag, perm)
		if err != nil {
			return err
		}
		if err := p.disk.recordCreate(op); err != nil {
			return err
		}
		f = p.newFile(mem, name)
		return nil
	}, nil)
	if err != nil {
		if f != nil {
			f.closeFile()
		}
		return nil, err
	}
	return f, nil
}

// recordCreate records that op has just created a file or directory. The new name is a pending change, which a
// simulated crash may lose until a sync makes it durable.
func (d *Disk) recordCreate(op Op) error {
	info, err := d.liveFiles.Stat(op.Name)
	if err != nil {
		return err
	}
	dir, base, err := d.parentEntry(op.Name)
	if err != nil {
		return err
	}
	n := newInode(info)
	d.state.addInode(n)
	d.state.addChange(&nameChange{op: op, nameEffects: []nameEffect{{dir, base, n.number}}})
	return nil
}

func (p *Process) newFile(memFile vfs.File, name string) *openFile {
	// Stat of a file in a Mem fails only if the file is closed, and this file is open.
	info, err := memFile.Stat()
	if err != nil {
		panic(err)
	}
	f := &openFile{process: p, memFile: memFile, name: name, node: p.disk.state.nodes[info.Sys().(uint64)]}
	f.node.openCount++
	p.files = append(p.files, f)
	return f
}

// Stat describes the file or directory with this name.
func (p *Process) Stat(name string) (fs.FileInfo, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	return p.disk.liveFiles.Stat(name)
}

// ReadDir lists a directory in the order of the names.
func (p *Process) ReadDir(name string) ([]fs.DirEntry, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	return p.disk.liveFiles.ReadDir(name)
}

// MkdirAll creates a directory and all missing parents. Each created directory counts as one operation.
func (p *Process) MkdirAll(name string, perm fs.FileMode) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	if !fs.ValidPath(name) {
		return p.disk.liveFiles.MkdirAll(name, perm)
	}
	for end := 0; end < len(name); end++ {
		if i := strings.IndexByte(name[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(name)
		}
		if err := p.makeDir(name[:end], perm); err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) makeDir(name string, perm fs.FileMode) error {
	_, err := p.disk.liveFiles.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) {
		// A directory or a file with this name already exists. MkdirAll creates nothing then, so no disk operation is
		// recorded.
		return p.disk.liveFiles.MkdirAll(name, perm)
	}
	return p.performOp(Op{Kind: OpMkdir, Name: name}, func(op Op) error {
		if err := p.disk.liveFiles.MkdirAll(name, perm); err != nil {
			return err
		}
		return p.disk.recordCreate(op)
	}, nil)
}

// Rename moves a file or directory to a new name.
func (p *Process) Rename(oldname, newname string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.performOp(Op{Kind: OpRename, Name: oldname, NewName: newname}, func(op Op) error {
		return p.disk.recordRename(op)
	}, nil)
}

func (d *Disk) recordRename(op Op) error {
	info, err := d.liveFiles.Stat(op.Name)
	if err != nil {
		return d.liveFiles.Rename(
			op.Name,
			op.NewName,
		) // The old name does not exist, so Rename returns an error.
	}
	ino := info.Sys().(uint64)
	if there, err := d.inodeNumber(op.NewName); err == nil && there == ino {
		// Both names lead to the same file. POSIX says that rename does nothing then, so no change is recorded.
		return d.liveFiles.Rename(op.Name, op.NewName)
	}
	if err := d.liveFiles.Rename(op.Name, op.NewName); err != nil {
		return err
	}
	from, oldbase, err := d.parentEntry(op.Name)
	if err != nil {
		return err
	}
	to, newbase, err := d.parentEntry(op.NewName)
	if err != nil {
		return err
	}
	gain, loss := nameEffect{to, newbase, ino}, nameEffect{from, oldbase, 0}
	if from == to || info.IsDir() {
		d.state.addChange(&nameChange{op: op, nameEffects: []nameEffect{gain, loss}})
		return nil
	}
	first := &nameChange{op: op, labelPrefix: "the new name of ", nameEffects: []nameEffect{gain}}
	d.state.addChange(first)
	d.state.addChange(
		&nameChange{
			op:                 op,
			labelPrefix:        "the end of the old name of ",
			nameEffects:        []nameEffect{loss},
			requiredNameChange: first,
		},
	)
	return nil
}

// Remove removes a file or an empty directory.
func (p *Process) Remove(name string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.performOp(Op{Kind: OpRemove, Name: name}, func(op Op) error {
		if err := p.disk.liveFiles.Remove(name); err != nil {
			return err
		}
		dir, base, err := p.disk.parentEntry(name)
		if err != nil {
			return err
		}
		p.disk.state.addChange(&nameChange{op: op, nameEffects: []nameEffect{{dir, base, 0}}})
		return nil
	}, nil)
}

// SyncDir makes the pending changes of names in a directory durable.
func (p *Process) SyncDir(name string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	if err := p.disk.liveFiles.SyncDir(name); err != nil {
		return err // The directory does not exist.
	}
	dir, err := p.disk.inodeNumber(name)
	if err != nil {
		return err
	}
	return p.performOp(Op{Kind: OpSyncDir, Name: name},
		func(Op) error { p.disk.state.makeDirDurable(dir); return nil },
		func(Op, OpFault) { p.disk.state.failDirSync(dir) })
}

// SyncAfter calls write, and then makes all bytes and names on the disk durable. If write returns an error, nothing is
// synced.
func (p *Process) SyncAfter(dir string, write func() error) error {
	if err := write(); err != nil {
		return err
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.performOp(Op{Kind: OpSyncAll, Name: dir},
		func(Op) error { p.disk.state.makeAllDurable(); return nil },
		func(Op, OpFault) { p.disk.state.failAllPendingOps() })
}
