// This file implements the file system as one process sees it.

package crashfs

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Process is a process that uses a [Disk]. After it was killed or the machine has crashed,
// all calls fail with [ErrKilled] or [ErrCrashed].
type Process struct {
	disk      *Disk
	id        int
	isDead    bool // guarded, like the following fields, by the Disk's mu
	killAt    int
	heldLocks map[*fileLock]bool
	files     []*openFile // open files
}

var (
	_ vfs.FS           = (*Process)(nil)
	_ vfs.TempNumberer = (*Process)(nil)
	_ vfs.BulkSyncer   = (*Process)(nil)
)

// killNow ends the process. The caller holds the Disk's mu.
func (p *Process) killNow() {
	p.isDead = true
	for l := range p.heldLocks {
		l.releaseLock()
	}
	for _, f := range p.files {
		f.node.open--
	}
	p.files = nil
}

// checkAlive returns the error that calls of a dead process return, or nil if the process is
// alive. The caller holds the Disk's mu.
func (p *Process) checkAlive() error {
	switch {
	case p.disk.isStopped:
		return ErrCrashed
	case p.isDead:
		return ErrKilled
	}
	return nil
}

// NextTemp returns the next number for temporary files, which is unique for the whole disk.
func (p *Process) NextTemp() uint64 { return p.disk.live.NextTemp() }

// OpenFile opens a file. Creating a file counts as one operation, and so does truncating an
// existing one.
func (p *Process) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	info, err := p.disk.live.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		return p.createFile(name, flag, perm)
	case err != nil || info.IsDir() || flag&os.O_TRUNC == 0:
		f, err := p.disk.live.OpenFile(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return p.newFile(f, name), nil
	}
	// Invalid combinations with O_TRUNC fail before the operation is counted.
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 || flag&os.O_EXCL != 0 {
		return p.disk.live.OpenFile(name, flag, perm)
	}
	mem, err := p.disk.live.OpenFile(name, flag&^os.O_TRUNC, perm)
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

// createFile creates and opens a file that does not exist.
func (p *Process) createFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	var f *openFile
	err := p.doOp(Op{Kind: Create, Name: name}, func(op Op) error {
		mem, err := p.disk.live.OpenFile(name, flag, perm)
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

// recordCreate records a file or directory that was just created.
func (d *Disk) recordCreate(op Op) error {
	info, err := d.live.Stat(op.Name)
	if err != nil {
		return err
	}
	dir, base, err := d.parentEntry(op.Name)
	if err != nil {
		return err
	}
	n := newInode(info)
	d.state.addInode(n)
	d.state.addChange(&nameChange{op: op, effects: []effect{{dir, base, n.number}}})
	return nil
}

func (p *Process) newFile(mem vfs.File, name string) *openFile {
	// Stat cannot fail for an open file of a Mem.
	info, err := mem.Stat()
	if err != nil {
		panic(err)
	}
	f := &openFile{process: p, mem: mem, name: name, node: p.disk.state.nodes[info.Sys().(uint64)]}
	f.node.open++
	p.files = append(p.files, f)
	return f
}

// Stat describes the named file or directory.
func (p *Process) Stat(name string) (fs.FileInfo, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	return p.disk.live.Stat(name)
}

// ReadDir lists a directory, sorted by name.
func (p *Process) ReadDir(name string) ([]fs.DirEntry, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return nil, err
	}
	return p.disk.live.ReadDir(name)
}

// MkdirAll creates a directory and its parents. Each counts as one operation.
func (p *Process) MkdirAll(name string, perm fs.FileMode) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	if !fs.ValidPath(name) {
		return p.disk.live.MkdirAll(name, perm)
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
	_, err := p.disk.live.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return p.disk.live.MkdirAll(name, perm) // the directory exists, or a file is in the way
	}
	return p.doOp(Op{Kind: Mkdir, Name: name}, func(op Op) error {
		if err := p.disk.live.MkdirAll(name, perm); err != nil {
			return err
		}
		return p.disk.recordCreate(op)
	}, nil)
}

// Rename renames a file or directory.
func (p *Process) Rename(oldname, newname string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.doOp(Op{Kind: Rename, Name: oldname, To: newname}, func(op Op) error {
		return p.disk.recordRename(op)
	}, nil)
}

func (d *Disk) recordRename(op Op) error {
	info, err := d.live.Stat(op.Name)
	if err != nil {
		return d.live.Rename(op.Name, op.To) // returns the proper error
	}
	ino := info.Sys().(uint64)
	if there, err := d.inodeNumber(op.To); err == nil && there == ino {
		return d.live.Rename(op.Name, op.To) // both names refer to the same file, so nothing changes
	}
	if err := d.live.Rename(op.Name, op.To); err != nil {
		return err
	}
	from, oldbase, err := d.parentEntry(op.Name)
	if err != nil {
		return err
	}
	to, newbase, err := d.parentEntry(op.To)
	if err != nil {
		return err
	}
	gain, loss := effect{to, newbase, ino}, effect{from, oldbase, 0}
	if from == to || info.IsDir() {
		d.state.addChange(&nameChange{op: op, effects: []effect{gain, loss}})
		return nil
	}
	first := &nameChange{op: op, part: "the new name of ", effects: []effect{gain}}
	d.state.addChange(first)
	d.state.addChange(&nameChange{op: op, part: "the end of the old name of ", effects: []effect{loss}, needs: first})
	return nil
}

// Remove deletes a file or an empty directory.
func (p *Process) Remove(name string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.doOp(Op{Kind: Remove, Name: name}, func(op Op) error {
		if err := p.disk.live.Remove(name); err != nil {
			return err
		}
		dir, base, err := p.disk.parentEntry(name)
		if err != nil {
			return err
		}
		p.disk.state.addChange(&nameChange{op: op, effects: []effect{{dir, base, 0}}})
		return nil
	}, nil)
}

// SyncDir makes the names in a directory durable.
func (p *Process) SyncDir(name string) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	if err := p.disk.live.SyncDir(name); err != nil {
		return err // the directory does not exist
	}
	dir, err := p.disk.inodeNumber(name)
	if err != nil {
		return err
	}
	return p.doOp(Op{Kind: SyncDir, Name: name},
		func(Op) error { p.disk.state.syncDir(dir); return nil },
		func(Op, Fault) { p.disk.state.failDir(dir) })
}

// SyncAfter calls write and then makes all bytes and names durable.
func (p *Process) SyncAfter(dir string, write func() error) error {
	if err := write(); err != nil {
		return err
	}
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if err := p.checkAlive(); err != nil {
		return err
	}
	return p.doOp(Op{Kind: SyncAll, Name: dir},
		func(Op) error { p.disk.state.syncAll(); return nil },
		func(Op, Fault) { p.disk.state.failAll() })
}
