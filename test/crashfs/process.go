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
	d      *Disk
	id     int
	dead   bool // guarded, like the following fields, by the Disk's mu
	killAt int
	held   map[*lock]bool
	files  []*file // open files
}

var (
	_ vfs.FS           = (*Process)(nil)
	_ vfs.TempNumberer = (*Process)(nil)
	_ vfs.BulkSyncer   = (*Process)(nil)
)

// kill ends the process. The caller holds the Disk's mu.
func (p *Process) kill() {
	p.dead = true
	for l := range p.held {
		l.release()
	}
	for _, f := range p.files {
		f.node.open--
	}
	p.files = nil
}

// alive returns the error that calls of a dead process return, or nil if the process is
// alive. The caller holds the Disk's mu.
func (p *Process) alive() error {
	switch {
	case p.d.stopped:
		return ErrCrashed
	case p.dead:
		return ErrKilled
	}
	return nil
}

// NextTemp returns the next number for temporary files, which is unique for the whole disk.
func (p *Process) NextTemp() uint64 { return p.d.live.NextTemp() }

// OpenFile opens a file. Creating a file counts as one operation, and so does truncating an
// existing one.
func (p *Process) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return nil, err
	}
	info, err := p.d.live.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		return p.create(name, flag, perm)
	case err != nil || info.IsDir() || flag&os.O_TRUNC == 0:
		f, err := p.d.live.OpenFile(name, flag, perm)
		if err != nil {
			return nil, err
		}
		return p.opened(f, name), nil
	}
	// Invalid combinations with O_TRUNC fail before the operation is counted.
	if flag&(os.O_WRONLY|os.O_RDWR) == 0 || flag&os.O_EXCL != 0 {
		return p.d.live.OpenFile(name, flag, perm)
	}
	mem, err := p.d.live.OpenFile(name, flag&^os.O_TRUNC, perm)
	if err != nil {
		return nil, err
	}
	f := p.opened(mem, name)
	if err := f.truncate(0); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// create creates and opens a file that does not exist.
func (p *Process) create(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	var f *file
	err := p.do(Op{Kind: Create, Name: name}, func(op Op) error {
		mem, err := p.d.live.OpenFile(name, flag, perm)
		if err != nil {
			return err
		}
		if err := p.d.made(op); err != nil {
			return err
		}
		f = p.opened(mem, name)
		return nil
	}, nil)
	if err != nil {
		if f != nil {
			f.close()
		}
		return nil, err
	}
	return f, nil
}

// made records a file or directory that was just created.
func (d *Disk) made(op Op) error {
	info, err := d.live.Stat(op.Name)
	if err != nil {
		return err
	}
	dir, base, err := d.entry(op.Name)
	if err != nil {
		return err
	}
	n := newInode(info)
	d.state.add(n)
	d.state.change(&change{op: op, effects: []effect{{dir, base, n.ino}}})
	return nil
}

func (p *Process) opened(mem vfs.File, name string) *file {
	// Stat cannot fail for an open file of a Mem.
	info, err := mem.Stat()
	if err != nil {
		panic(err)
	}
	f := &file{p: p, mem: mem, name: name, node: p.d.state.nodes[info.Sys().(uint64)]}
	f.node.open++
	p.files = append(p.files, f)
	return f
}

// Stat describes the named file or directory.
func (p *Process) Stat(name string) (fs.FileInfo, error) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.d.live.Stat(name)
}

// ReadDir lists a directory, sorted by name.
func (p *Process) ReadDir(name string) ([]fs.DirEntry, error) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return nil, err
	}
	return p.d.live.ReadDir(name)
}

// MkdirAll creates a directory and its parents. Each counts as one operation.
func (p *Process) MkdirAll(name string, perm fs.FileMode) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	if !fs.ValidPath(name) {
		return p.d.live.MkdirAll(name, perm)
	}
	for end := 0; end < len(name); end++ {
		if i := strings.IndexByte(name[end:], '/'); i >= 0 {
			end += i
		} else {
			end = len(name)
		}
		if err := p.mkdir(name[:end], perm); err != nil {
			return err
		}
	}
	return nil
}

func (p *Process) mkdir(name string, perm fs.FileMode) error {
	_, err := p.d.live.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return p.d.live.MkdirAll(name, perm) // the directory exists, or a file is in the way
	}
	return p.do(Op{Kind: Mkdir, Name: name}, func(op Op) error {
		if err := p.d.live.MkdirAll(name, perm); err != nil {
			return err
		}
		return p.d.made(op)
	}, nil)
}

// Rename renames a file or directory.
func (p *Process) Rename(oldname, newname string) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	return p.do(Op{Kind: Rename, Name: oldname, To: newname}, func(op Op) error {
		return p.d.rename(op)
	}, nil)
}

func (d *Disk) rename(op Op) error {
	info, err := d.live.Stat(op.Name)
	if err != nil {
		return d.live.Rename(op.Name, op.To) // returns the proper error
	}
	ino := info.Sys().(uint64)
	if there, err := d.ino(op.To); err == nil && there == ino {
		return d.live.Rename(op.Name, op.To) // both names refer to the same file, so nothing changes
	}
	if err := d.live.Rename(op.Name, op.To); err != nil {
		return err
	}
	from, oldbase, err := d.entry(op.Name)
	if err != nil {
		return err
	}
	to, newbase, err := d.entry(op.To)
	if err != nil {
		return err
	}
	gain, loss := effect{to, newbase, ino}, effect{from, oldbase, 0}
	if from == to || info.IsDir() {
		d.state.change(&change{op: op, effects: []effect{gain, loss}})
		return nil
	}
	first := &change{op: op, part: "the new name of ", effects: []effect{gain}}
	d.state.change(first)
	d.state.change(&change{op: op, part: "the end of the old name of ", effects: []effect{loss}, needs: first})
	return nil
}

// Remove deletes a file or an empty directory.
func (p *Process) Remove(name string) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	return p.do(Op{Kind: Remove, Name: name}, func(op Op) error {
		if err := p.d.live.Remove(name); err != nil {
			return err
		}
		dir, base, err := p.d.entry(name)
		if err != nil {
			return err
		}
		p.d.state.change(&change{op: op, effects: []effect{{dir, base, 0}}})
		return nil
	}, nil)
}

// SyncDir makes the names in a directory durable.
func (p *Process) SyncDir(name string) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	if err := p.d.live.SyncDir(name); err != nil {
		return err // the directory does not exist
	}
	dir, err := p.d.ino(name)
	if err != nil {
		return err
	}
	return p.do(Op{Kind: SyncDir, Name: name},
		func(Op) error { p.d.state.syncDir(dir); return nil },
		func(Op, Fault) { p.d.state.failDir(dir) })
}

// SyncAfter calls write and then makes all bytes and names durable.
func (p *Process) SyncAfter(dir string, write func() error) error {
	if err := write(); err != nil {
		return err
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.alive(); err != nil {
		return err
	}
	return p.do(Op{Kind: SyncAll, Name: dir},
		func(Op) error { p.d.state.syncAll(); return nil },
		func(Op, Fault) { p.d.state.failAll() })
}
