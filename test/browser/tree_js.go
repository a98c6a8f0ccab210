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
	errNotRegular   = fmt.Errorf("%w: is not a regular file", fs.ErrInvalid)
	errRemovedAgain = errors.New("the file was removed again and again while it was opened")
)

// maxOpenTries limits how often OpenFile tries again if other callers remove the file while it is being opened.
const maxOpenTries = 100

// findInDirectory returns the node whose name is base, in the directory whose number is dir. The bool result reports
// whether the node exists.
func (t *transaction) findInDirectory(dir float64, base string) (node, bool, error) {
	v, err := runRequest(t.nodeObjects.Call("index", placeIndexName), "get", []any{dir, base})
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// readNode returns the node with this number, even after its name was removed. The bool reports whether there is one.
func (t *transaction) readNode(ino float64) (node, bool, error) {
	v, err := runRequest(t.nodeObjects, "get", ino)
	if err != nil {
		return node{}, false, err
	}
	n, ok := decodeNode(v)
	return n, ok, nil
}

// writeNode stores a node (a file or directory) in the browser's database, in place of the node with the same number.
func (t *transaction) writeNode(n node) error {
	return sendRequest(t.nodeObjects, "put", n.storedRow())
}

// addNode stores n as a new node. It returns n with the number that the store assigned.
func (t *transaction) addNode(n node) (node, error) {
	row := n.storedRow()
	row.Delete("gone") // A new node is not deleted, although storedRow marks a node without a directory as deleted.
	v, err := runRequest(t.nodeObjects, "add", row)
	if err != nil {
		return node{}, err
	}
	if v.Type() != js.TypeNumber {
		return node{}, errors.New("the browser gave a file no number")
	}
	n.number = v.Float()
	return n, nil
}

// findParent returns the node of the directory that contains the name, and the name's last element. The name must be
// valid and must not be ".".
func (t *transaction) findParent(name string) (dir node, base string, err error) {
	dir, ok, err := t.readNode(rootNodeNumber)
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
		dir, ok, err = t.findInDirectory(dir.number, part)
		if err != nil {
			return node{}, "", err
		}
		name = rest
	}
}

// findNode returns the node with this name. The name must be valid. For a missing node, the error is [fs.ErrNotExist].
func (t *transaction) findNode(name string) (node, error) {
	n, ok := node{}, false
	var err error
	if name == "." {
		n, ok, err = t.readNode(rootNodeNumber)
	} else {
		var dir node
		var base string
		dir, base, err = t.findParent(name)
		if err == nil {
			n, ok, err = t.findInDirectory(dir.number, base)
		}
	}
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	return n, err
}

// directoryKeyRange returns the key range of the nodes in a directory. The range ends with an empty array, because
// arrays come after all strings in the order of keys.
func (f *FS) directoryKeyRange(dirNumber float64) js.Value {
	return f.keyRangeClass.Call("bound", []any{dirNumber}, []any{dirNumber, []any{}})
}

// updateModTime sets the modification time of a directory to the present time, and stores the directory.
func (f *FS) updateModTime(t *transaction, dir node) error {
	dir.modTimeMillis = f.nextChangeTime(dir.modTimeMillis)
	return t.writeNode(dir)
}

// pathError returns a PathError with the operation, the name and the error err. It returns err unchanged if err is nil
// or contains a PathError.
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
	for range maxOpenTries {
		n, err := f.findOrCreate(name, flag, perm)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		// While this lock is held, nobody else can delete the bytes of the file. They may have been deleted just
		// before, so check that the file's node still exists.
		h, _, err := f.acquireWebLock(f.openFileLockName(n.number), lockModeShared, true)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		there := false
		err = f.viewTransaction(func(t *transaction) error {
			var err error
			_, there, err = t.readNode(n.number)
			return err
		})
		if err != nil {
			h.releaseAndWait()
			return nil, pathError("open", name, err)
		}
		if there {
			return &file{fileSystem: f, nodeNumber: n.number, name: name, flag: flag, openWebLock: h}, nil
		}
		h.releaseAndWait()
	}
	return nil, pathError("open", name, errRemovedAgain)
}

// findOrCreate returns the node of the file to open. With os.O_CREATE in flag, it creates a missing file with the
// permissions perm. With os.O_TRUNC, it empties an existing file. If name is a directory, it returns an error.
func (f *FS) findOrCreate(name string, flag int, perm fs.FileMode) (n node, err error) {
	run := f.viewTransaction
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		run = func(fn func(*transaction) error) error { return f.updateTransaction(durabilityRelaxed, fn) }
	}
	err = run(func(t *transaction) error {
		dir, base, err := t.findParent(name)
		if err != nil {
			return err
		}
		ok := false
		n, ok, err = t.findInDirectory(dir.number, base)
		if err != nil {
			return err
		}
		switch {
		case !ok && flag&os.O_CREATE == 0:
			return fs.ErrNotExist
		case !ok:
			n = node{parentNumber: dir.number, name: base, mode: perm.Perm(), modTimeMillis: f.nextChangeTime(0)}
			n, err = t.addNode(n)
			if err != nil {
				return err
			}
			return f.updateModTime(t, dir)
		case flag&os.O_EXCL != 0:
			return fs.ErrExist
		case n.isDir():
			return errNotRegular
		case flag&os.O_TRUNC != 0:
			return f.truncateNode(t, n, 0)
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
	err := f.viewTransaction(func(t *transaction) (err error) {
		n, err = t.findNode(name)
		return err
	})
	if err != nil {
		return nil, pathError("stat", name, err)
	}
	return f.newNodeInfo(n, path.Base(name)), nil
}

// ReadDir lists a directory in the order of the names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := vfs.CheckName("readdir", name); err != nil {
		return nil, err
	}
	var entries []fs.DirEntry
	err := f.viewTransaction(func(t *transaction) error {
		dir, err := t.findNode(name)
		if err != nil {
			return err
		}
		if !dir.isDir() {
			return syscall.ENOTDIR
		}
		rows, err := runRequest(t.nodeObjects.Call("index", placeIndexName), "getAll", f.directoryKeyRange(dir.number))
		if err != nil {
			return err
		}
		for i := range rows.Length() {
			if n, ok := decodeNode(rows.Index(i)); ok {
				entries = append(entries, fs.FileInfoToDirEntry(f.newNodeInfo(n, n.name)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, pathError("readdir", name, err)
	}
	// Sort by bytes, as Go does, because the browser has sorted the names by UTF-16 code units.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll creates a directory and its missing parents.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	if err := vfs.CheckName("mkdir", name); err != nil {
		return err
	}
	if name == "." {
		return nil
	}
	return pathError("mkdir", name, f.updateTransaction(durabilityRelaxed, func(t *transaction) error {
		dir, ok, err := t.readNode(rootNodeNumber)
		if err == nil && !ok {
			err = fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		for part := range strings.SplitSeq(name, "/") {
			n, ok, err := t.findInDirectory(dir.number, part)
			if err == nil && !ok {
				n = node{parentNumber: dir.number, name: part, mode: fs.ModeDir | perm.Perm(),
					modTimeMillis: f.nextChangeTime(0)}
				n, err = t.addNode(n)
				if err == nil {
					err = f.updateModTime(t, dir)
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
	err := f.updateTransaction(durabilityRelaxed, func(t *transaction) error {
		from, oldbase, err := t.findParent(oldname)
		if err != nil {
			return err
		}
		n, ok, err := t.findInDirectory(from.number, oldbase)
		if err == nil && !ok {
			err = fs.ErrNotExist
		}
		if err != nil {
			return err
		}
		to, newbase, err := t.findParent(newname)
		if err != nil {
			return err
		}
		old, replaced, err = t.findInDirectory(to.number, newbase)
		if err != nil {
			return err
		}
		switch {
		case replaced && old.number == n.number:
			replaced = false
			return nil
		case replaced && old.isDir():
			return fs.ErrExist
		case replaced && n.isDir():
			return syscall.ENOTDIR
		case n.isDir() && strings.HasPrefix(newname, oldname+"/"):
			return fs.ErrInvalid
		case replaced:
			if err := t.writeNode(old.withoutName()); err != nil {
				return err
			}
		}
		n.parentNumber, n.name = to.number, newbase
		if err := cmp.Or(t.writeNode(n), f.updateModTime(t, to)); err != nil || to.number == from.number {
			return err
		}
		return f.updateModTime(t, from)
	})
	if err != nil {
		return refuse(err)
	}
	if replaced {
		f.deleteUnusedBytes(old.number)
	}
	return nil
}

// withoutName returns a copy of the node without the name and the directory.
func (n node) withoutName() node {
	n.parentNumber, n.name = 0, ""
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
	err := f.updateTransaction(durabilityRelaxed, func(t *transaction) error {
		dir, base, err := t.findParent(name)
		if err != nil {
			return err
		}
		ok := false
		n, ok, err = t.findInDirectory(dir.number, base)
		if err != nil {
			return err
		}
		if !ok {
			return fs.ErrNotExist
		}
		if n.isDir() {
			count, err := runRequest(
				t.nodeObjects.Call("index", placeIndexName),
				"count",
				f.directoryKeyRange(n.number),
			)
			if err == nil && count.Int() > 0 {
				err = syscall.ENOTEMPTY
			}
			if err == nil {
				err = sendRequest(t.nodeObjects, "delete", n.number)
			}
			if err != nil {
				return err
			}
		} else if err := t.writeNode(n.withoutName()); err != nil {
			return err
		}
		return f.updateModTime(t, dir)
	})
	if err != nil {
		return pathError("remove", name, err)
	}
	if !n.isDir() {
		f.deleteUnusedBytes(n.number)
	}
	return nil
}

// SyncDir waits until the names in a directory and all earlier changes are on stable storage.
func (f *FS) SyncDir(name string) error {
	if err := vfs.CheckName("sync", name); err != nil {
		return err
	}
	return pathError("sync", name, f.updateTransaction(durabilityStrict, func(t *transaction) error {
		n, err := t.findNode(name)
		switch {
		case err != nil:
			return err
		case !n.isDir():
			return syscall.ENOTDIR
		}
		// Write the node, although it has not changed. The browser makes earlier changes durable only at the end of a
		// transaction that writes something.
		return t.writeNode(n)
	}))
}

// deleteUnusedBytes deletes the bytes of a file whose name was removed. ino is the number of the file's node. If the
// file is still open somewhere, nothing happens: the bytes are deleted when the file is closed everywhere. Errors are
// ignored, because the bytes are also deleted when the file system is opened again.
func (f *FS) deleteUnusedBytes(ino float64) {
	h, got, err := f.acquireWebLock(f.openFileLockName(ino), lockModeExclusive, false)
	if err != nil || !got {
		return
	}
	defer h.releaseAndWait()
	_ = f.updateTransaction(durabilityRelaxed, func(t *transaction) error {
		n, ok, err := t.readNode(ino)
		if err != nil || !ok {
			return err
		}
		if n.parentNumber != 0 {
			return nil
		}
		return cmp.Or(
			sendRequest(t.nodeObjects, "delete", ino),
			sendRequest(t.chunkObjects, "delete", f.chunkKeyRange(ino, 0)),
		)
	})
}

// deleteUnusedFiles deletes all files that have no name any more, except files that somebody has open. A page that ends
// without closing such files leaves them behind.
func (f *FS) deleteUnusedFiles() error {
	var inos []float64
	err := f.viewTransaction(func(t *transaction) error {
		keys, err := runRequest(t.nodeObjects.Call("index", unlinkedIndexName), "getAllKeys")
		if err != nil {
			return err
		}
		for i := range keys.Length() {
			inos = append(inos, keys.Index(i).Float())
		}
		return nil
	})
	for _, ino := range inos {
		f.deleteUnusedBytes(ino)
	}
	return err
}
