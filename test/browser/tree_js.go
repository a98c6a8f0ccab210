// This file implements the directory tree.

package browser

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"syscall/js"

	"github.com/oxbow-memory/oxbow/vfs"
)

var (
	errNotRegular = fmt.Errorf("%w: is not a regular file", fs.ErrInvalid)
	errBusyPlace  = errors.New("the file was removed again and again while it was opened")
)

// openTries is the maximum number of times that a file is opened again if others remove it at the same
// time.
const openTries = 100

// place returns the node with this name in a directory.
func (t *tx) place(dir float64, base string) (node, bool, error) {
	v, err := get(t.nodes.Call("index", placeIndex), "get", []any{dir, base})
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// node returns the node with this number, with or without a name.
func (t *tx) node(ino float64) (node, bool, error) {
	v, err := get(t.nodes, "get", ino)
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// put stores a node.
func (t *tx) put(n node) error { return tell(t.nodes, "put", n.row()) }

// make stores n as a new node, and returns the node with its new number.
func (t *tx) make(n node) (node, error) {
	row := n.row()
	row.Delete("gone") // a new node has a name
	v, err := get(t.nodes, "add", row)
	if err != nil {
		return node{}, err
	}
	if v.Type() != js.TypeNumber {
		return node{}, errors.New("the browser gave a file no number")
	}
	n.ino = v.Float()
	return n, nil
}

// parent returns the parent directory of a name. The name must be valid and not ".".
func (t *tx) parent(name string) (dir node, base string, err error) {
	dir, ok, err := t.node(rootIno)
	if err != nil {
		return node{}, "", err
	}
	for {
		part, rest, more := strings.Cut(name, "/")
		switch {
		case !ok:
			return node{}, "", fs.ErrNotExist
		case !dir.isDir():
			return node{}, "", syscall.ENOTDIR
		case !more:
			return dir, part, nil
		}
		dir, ok, err = t.place(dir.ino, part)
		if err != nil {
			return node{}, "", err
		}
		name = rest
	}
}

// lookup returns the node with this name, which must be valid.
func (t *tx) lookup(name string) (node, error) {
	n, ok := node{}, false
	var err error
	if name == "." {
		n, ok, err = t.node(rootIno)
	} else {
		var dir node
		var base string
		dir, base, err = t.parent(name)
		if err == nil {
			n, ok, err = t.place(dir.ino, base)
		}
	}
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return n, err
}

// inside returns the key range of the nodes in a directory. Arrays are sorted after all strings.
func (f *FS) inside(dir float64) js.Value {
	return f.ranges.Call("bound", []any{dir}, []any{dir, []any{}})
}

// touch updates the time of a directory after a change in it.
func (f *FS) touch(t *tx, dir node) error {
	dir.mod = f.stamp(dir.mod)
	return t.put(dir)
}

// pathError returns err as a PathError, unless it already is one.
func pathError(op, name string, err error) error {
	if e := (*fs.PathError)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// OpenFile opens a file. See [vfs.FS].
func (f *FS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if err := cmp.Or(vfs.CheckName("open", name), vfs.CheckFlag(name, flag)); err != nil {
		return nil, err
	}
	if name == "." {
		return nil, pathError("open", name, errNotRegular)
	}
	for range openTries {
		n, err := f.find(name, flag, perm)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		// From now on no other caller can remove the bytes of the file, but one may have removed them
		// just before.
		h, _, err := f.take(f.openLock(n.ino), shared, true)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		there := false
		err = f.view(func(t *tx) error {
			var err error
			_, there, err = t.node(n.ino)
			return err
		})
		if err != nil {
			h.release()
			return nil, pathError("open", name, err)
		}
		if there {
			return &file{f: f, ino: n.ino, name: name, flag: flag, open: h}, nil
		}
		h.release()
	}
	return nil, pathError("open", name, errBusyPlace)
}

// find returns the file to open. Depending on the flags, it creates or truncates the file.
func (f *FS) find(name string, flag int, perm fs.FileMode) (n node, err error) {
	run := f.view
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		run = func(fn func(*tx) error) error { return f.update(relaxed, fn) }
	}
	err = run(func(t *tx) error {
		dir, base, err := t.parent(name)
		if err != nil {
			return err
		}
		ok := false
		n, ok, err = t.place(dir.ino, base)
		if err != nil {
			return err
		}
		switch {
		case !ok && flag&os.O_CREATE == 0:
			return fs.ErrNotExist
		case !ok:
			n, err = t.make(node{dir: dir.ino, name: base, mode: perm.Perm(), mod: f.stamp(0)})
			if err != nil {
				return err
			}
			return f.touch(t, dir)
		case flag&os.O_EXCL != 0:
			return fs.ErrExist
		case n.isDir():
			return errNotRegular
		case flag&os.O_TRUNC != 0:
			return f.truncate(t, n, 0)
		}
		return nil
	})
	return n, err
}

// Stat describes a file or directory.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := vfs.CheckName("stat", name); err != nil {
		return nil, err
	}
	var n node
	err := f.view(func(t *tx) (err error) {
		n, err = t.lookup(name)
		return err
	})
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return f.info(n, path.Base(name)), nil
}

// ReadDir lists a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := vfs.CheckName("readdir", name); err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	err := f.view(func(t *tx) error {
		dir, err := t.lookup(name)
		if err != nil {
			return err
		}
		if !dir.isDir() {
			return syscall.ENOTDIR
		}
		rows, err := get(t.nodes.Call("index", placeIndex), "getAll", f.inside(dir.ino))
		if err != nil {
			return err
		}
		for i := range rows.Length() {
			if n, ok := decodeNode(rows.Index(i)); ok {
				entries = append(entries, fs.FileInfoToDirEntry(f.info(n, n.name)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	// The browser sorts by UTF-16 code units.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll creates a directory and its parents.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := vfs.CheckName("mkdir", name); err != nil {
		return err
	}
	if name == "." {
		return nil
	}
	return pathError("mkdir", name, f.update(relaxed, func(t *tx) error {
		dir, ok, err := t.node(rootIno)
		if err == nil && !ok {
			err = fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		for part := range strings.SplitSeq(name, "/") {
			n, ok, err := t.place(dir.ino, part)
			if err == nil && !ok {
				n = node{dir: dir.ino, name: part, mode: fs.ModeDir | perm.Perm(), mod: f.stamp(0)}
				n, err = t.make(n)
				if err == nil {
					err = f.touch(t, dir)
				}
			}
			switch {
			case err != nil:
				return err
			case !n.isDir():
				return syscall.ENOTDIR
			}
			dir = n
		}
		return nil
	}))
}

// Rename moves a file or directory. It never replaces a directory.
func (f *FS) Rename(oldname, newname string) error {
	refuse := func(err error) error {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
	}
	if oldname == "." || newname == "." {
		return refuse(fs.ErrInvalid)
	}
	if vfs.CheckName("rename", oldname) != nil || vfs.CheckName("rename", newname) != nil {
		return refuse(fs.ErrInvalid)
	}
	var old node
	replaced := false
	err := f.update(relaxed, func(t *tx) error {
		from, oldbase, err := t.parent(oldname)
		if err != nil {
			return err
		}
		n, ok, err := t.place(from.ino, oldbase)
		if err == nil && !ok {
			err = fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		to, newbase, err := t.parent(newname)
		if err != nil {
			return err
		}
		old, replaced, err = t.place(to.ino, newbase)
		if err != nil {
			return err
		}
		switch {
		case replaced && old.ino == n.ino:
			replaced = false
			return nil
		case replaced && old.isDir():
			return fs.ErrExist
		case replaced && n.isDir():
			return syscall.ENOTDIR
		case n.isDir() && strings.HasPrefix(newname, oldname+"/"):
			return fs.ErrInvalid
		case replaced:
			if err := t.put(old.unnamed()); err != nil {
				return err
			}
		}
		n.dir, n.name = to.ino, newbase
		if err := cmp.Or(t.put(n), f.touch(t, to)); err != nil || to.ino == from.ino {
			return err
		}
		return f.touch(t, from)
	})
	if err != nil {
		return refuse(err)
	}
	if replaced {
		f.reap(old.ino)
	}
	return nil
}

// unnamed returns the node without its name.
func (n node) unnamed() node {
	n.dir, n.name = 0, ""
	return n
}

// Remove deletes a file or an empty directory.
func (f *FS) Remove(name string) error {
	if err := vfs.CheckName("remove", name); err != nil {
		return err
	}
	if name == "." {
		return pathError("remove", name, fs.ErrInvalid)
	}
	var n node
	err := f.update(relaxed, func(t *tx) error {
		dir, base, err := t.parent(name)
		if err != nil {
			return err
		}
		ok := false
		n, ok, err = t.place(dir.ino, base)
		if err != nil {
			return err
		}
		if !ok {
			return fs.ErrNotExist
		}
		if n.isDir() {
			count, err := get(t.nodes.Call("index", placeIndex), "count", f.inside(n.ino))
			if err == nil && count.Int() > 0 {
				err = syscall.ENOTEMPTY
			}
			if err == nil {
				err = tell(t.nodes, "delete", n.ino)
			}
			if err != nil {
				return err
			}
		} else if err := t.put(n.unnamed()); err != nil {
			return err
		}
		return f.touch(t, dir)
	})
	if err != nil {
		return pathError("remove", name, err)
	}
	if !n.isDir() {
		f.reap(n.ino)
	}
	return nil
}

// SyncDir makes the names in a directory and all earlier changes durable.
func (f *FS) SyncDir(name string) error {
	if err := vfs.CheckName("sync", name); err != nil {
		return err
	}
	return pathError("sync", name, f.update(strict, func(t *tx) error {
		n, err := t.lookup(name)
		switch {
		case err != nil:
			return err
		case !n.isDir():
			return syscall.ENOTDIR
		}
		// Write the node although it has not changed: a browser waits for the disk only at the end of a transaction
		// that writes something.
		return t.put(n)
	}))
}

// reap deletes the bytes of a file without a name. If another tab or a handle has the file open, reap deletes nothing.
// Then the last close of the file deletes the bytes, or the next call that opens the file system. An error is ignored
// for the same reason.
func (f *FS) reap(ino float64) {
	h, got, err := f.take(f.openLock(ino), exclusive, false)
	if err != nil || !got {
		return
	}
	defer h.release()
	_ = f.update(relaxed, func(t *tx) error {
		n, ok, err := t.node(ino)
		if err != nil || !ok {
			return err
		}
		if n.dir != 0 {
			return nil
		}
		return cmp.Or(tell(t.nodes, "delete", ino), tell(t.chunks, "delete", f.chunksFrom(ino, 0)))
	})
}

// sweep deletes the files that have no name and are not open. Such files remain if a page ends without
// closing them.
func (f *FS) sweep() error {
	var inos []float64
	err := f.view(func(t *tx) error {
		keys, err := get(t.nodes.Call("index", goneIndex), "getAllKeys")
		if err != nil {
			return err
		}
		for i := range keys.Length() {
			inos = append(inos, keys.Index(i).Float())
		}
		return nil
	})
	for _, ino := range inos {
		f.reap(ino)
	}
	return err
}
