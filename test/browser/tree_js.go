// This file implements the directory tree: finding, opening, listing, moving and removing files.

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

// openTries limits how often OpenFile tries again if other callers remove the file while it is being opened.
const openTries = 100

// place returns the node with the name base in the directory with the number dir. The bool reports whether there is
// one.
func (t *tx) place(dir float64, base string) (node, bool, error) {
	v, err := get(t.nodes.Call("index", placeIndex), "get", []any{dir, base})
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// node returns the node with this number, also if it has no name any more. The bool reports whether there is one.
func (t *tx) node(ino float64) (node, bool, error) {
	v, err := get(t.nodes, "get", ino)
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// put stores the node in place of the node with the same number.
func (t *tx) put(n node) error { return tell(t.nodes, "put", n.row()) }

// make stores n as a new node. It returns n with the number that the store assigned.
func (t *tx) make(n node) (node, error) {
	row := n.row()
	row.Delete("gone") // Rows without a directory are marked as gone. A new node has a name.
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

// parent returns the node of the directory that contains the name, and the last element of the name. The name must be
// valid and must not be ".".
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

// lookup returns the node with this name. The name must be valid. If there is no such node, the error is
// [fs.ErrNotExist].
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

// inside returns the key range of the nodes in a directory. The range ends with an empty array, because arrays come
// after all strings in the order of keys.
func (f *FS) inside(dir float64) js.Value {
	return f.ranges.Call("bound", []any{dir}, []any{dir, []any{}})
}

// touch sets the time of a directory after a change in it.
func (f *FS) touch(t *tx, dir node) error {
	dir.mod = f.stamp(dir.mod)
	return t.put(dir)
}

// pathError adds the operation and the name to err. It returns nil and errors that are a PathError already unchanged.
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
		// From here on, nobody else can delete the bytes of the file. But they may have been deleted just before, so
		// the node is looked up again.
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

// find returns the node of the file to open. If flag says so, find creates or empties the file.
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

// Stat describes the file or directory with this name.
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

// ReadDir lists a directory in the order of the names.
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
	// The browser sorts names by UTF-16 code units, and Go by bytes.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll creates a directory and those of its parents that do not exist.
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

// Rename moves a file or directory. A file at the new name is replaced, but a directory is not.
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

// unnamed returns a copy of the node without the name and the directory.
func (n node) unnamed() node {
	n.dir, n.name = 0, ""
	return n
}

// Remove removes a file or an empty directory.
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

// SyncDir waits until the names in a directory and all earlier changes are on stable storage.
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
		// The node is written although it has not changed. The browser waits for stable storage only at the end of a
		// transaction that writes something.
		return t.put(n)
	}))
}

// reap deletes the bytes of a file that has no name any more. If somebody still has the file open, reap leaves it. The
// bytes are then deleted when the last one closes the file, or when the file system is opened again. For the same
// reason, reap ignores errors.
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

// sweep deletes all files that have no name and that nobody has open. A page leaves such files behind if it ends
// without closing them.
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
