// This file implements the file system of the operating system.

package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OS is a file system in a directory of the operating system. All files are opened through the same [os.Root], so that
// a name or symbolic link cannot lead outside of the directory, even if another process replaces a directory by a
// link. On Windows, os.Root also opens files in such a way that others can rename and remove them, and that a rename
// can replace an open file.
type OS struct {
	root      *os.Root
	path      string
	info      fs.FileInfo // description of the directory
	dirHandle dirHandle
}

var _ FS = (*OS)(nil)

// Dir opens the directory at a path of the operating system. The directory must exist. The result continues to use the
// same directory, even if the directory is moved or the process changes its working directory.
func Dir(path string) (*OS, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening directory: %w", err)
	}
	info, err := root.Stat(".")
	if err != nil {
		_ = root.Close() // Ignore the error, because nothing was written.
		return nil, fmt.Errorf("opening directory: %w", err)
	}
	o := &OS{root: root, path: path, info: info}
	o.dirHandle.open(o.root)
	return o, nil
}

// Moved reports whether the path that was passed to [Dir] now refers to another directory or to nothing.
func (o *OS) Moved() bool {
	now, err := os.Stat(o.path)
	return errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(now, o.info))
}

// Path returns the path that was passed to [Dir].
func (o *OS) Path() string { return o.path }

// Close closes the directory. Open files and locks stay open. All later calls of other methods return [fs.ErrClosed].
func (o *OS) Close() error {
	_ = o.dirHandle.Close() // Ignore the error, because nothing was written.
	return o.root.Close()
}

// OpenFile opens a regular file. It returns an error for directories, pipes and devices. It returns this error at once,
// even if opening a pipe would normally wait for another process. A new file gets the permissions perm, except the bits
// in the umask of the process. Only the nine permission bits of perm are used.
func (o *OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := checkFlag(name, flag); err != nil {
		return nil, err
	}
	f, err := o.openFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return wrapFile(f)
}

// openFile is like OpenFile, but returns an [os.File].
func (o *OS) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	local, err := localPath("open", name)
	if err != nil {
		return nil, err
	}
	f, err := o.root.OpenFile(local, flag|extraOpenFlags, perm.Perm())
	if err != nil {
		return nil, withErrorOp("open", err)
	}
	return requireRegular(f, name)
}

// OpenRegular is like [os.Open], but returns an error for anything except regular files. It is for paths that come
// from other programs.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|extraOpenFlags, 0)
	if err != nil {
		return nil, err
	}
	return requireRegular(f, path)
}

// requireRegular returns f if it is a regular file. Otherwise, it closes f and returns an error.
func requireRegular(f *os.File, name string) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Stat describes the file or directory with a name. It follows symbolic links inside the root.
func (o *OS) Stat(name string) (fs.FileInfo, error) {
	local, err := localPath("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := o.root.Stat(local)
	return info, withErrorOp("stat", err)
}

// ReadDir lists the entries of a directory, sorted by name. It lists symbolic links as links.
func (o *OS) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := o.openDir(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// entriesPerRead is the number of directory entries that EachEntry reads at once.
const entriesPerRead = 256

// EachEntry calls fn with each entry of a directory, in an unspecified order. It lists symbolic links as links. If fn
// returns an error, EachEntry stops and returns this error. The function fn must not change the directory. For a large
// directory of an [OS], EachEntry needs little memory. For any other file system, all entries are in memory at the
// same time, like after [FS.ReadDir].
func EachEntry(fsys FS, name string, fn func(fs.DirEntry) error) error {
	if o, ok := fsys.(*OS); ok {
		return o.eachEntry(name, fn)
	}
	entries, err := fsys.ReadDir(name)
	if err != nil {
		return err
	}
	return visitDirEntries(entries, fn)
}

func (o *OS) eachEntry(name string, fn func(fs.DirEntry) error) error {
	d, err := o.openDir(name)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(entriesPerRead)
		if err := visitDirEntries(entries, fn); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func visitDirEntries(entries []fs.DirEntry, fn func(fs.DirEntry) error) error {
	for _, e := range entries {
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// openDir opens a directory so that its entries can be listed. It does not wait if the name refers to a pipe.
func (o *OS) openDir(name string) (*os.File, error) {
	local, err := localPath("readdir", name)
	if err != nil {
		return nil, err
	}
	d, err := o.root.OpenFile(local, os.O_RDONLY|extraOpenFlags, 0)
	return d, withErrorOp("open", err)
}

// MkdirAll creates a directory and its missing parent directories. Each directory is durable only after its parent
// directory was synced.
func (o *OS) MkdirAll(name string, perm fs.FileMode) error {
	local, err := localPath("mkdir", name)
	if err != nil {
		return err
	}
	return withErrorOp("mkdir", o.root.MkdirAll(local, perm.Perm()))
}

// Rename moves a file or directory. If oldname or newname is a symbolic link, Rename moves or replaces the link and not
// its target. It never replaces a directory. On Windows, if other programs have a file open in a way that prevents the
// rename, Rename waits up to two seconds for them.
func (o *OS) Rename(oldname, newname string) error {
	from, ferr := localPath("rename", oldname)
	to, terr := localPath("rename", newname)
	if err := cmp.Or(ferr, terr); err != nil {
		return err
	}
	if oldname == "." || newname == "." {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: fs.ErrInvalid}
	}
	return withErrorOp("rename", retryWhileBusy(func() error { return o.root.Rename(from, to) }))
}

// Link creates newname as a hard link to oldname. If newname exists, the error matches [fs.ErrExist]. If oldname does
// not exist, the error matches [fs.ErrNotExist]. Any other error of the operating system matches [ErrUnsupported],
// because the usual cause is a file system without hard links.
func (o *OS) Link(oldname, newname string) error {
	from, ferr := localPath("link", oldname)
	to, terr := localPath("link", newname)
	if err := cmp.Or(ferr, terr); err != nil {
		return err
	}
	err := o.root.Link(from, to)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return withErrorOp("link", err)
	}
	return fmt.Errorf("%w: %w", ErrUnsupported, err)
}

// Chmod sets the permissions of a file.
func (o *OS) Chmod(name string, mode fs.FileMode) error {
	local, err := localPath("chmod", name)
	if err != nil {
		return err
	}
	return withErrorOp("chmod", o.root.Chmod(local, mode.Perm()))
}

// Remove deletes a file, a symbolic link or an empty directory.
func (o *OS) Remove(name string) error {
	local, err := localPath("remove", name)
	if err != nil {
		return err
	}
	if name == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	return withErrorOp("remove", retryWhileBusy(func() error { return removeInRoot(o.root, local) }))
}

// withErrorOp sets the operation in an error of os.Root. Otherwise, the operation would be the name of a system call
// such as "openat".
func withErrorOp(op string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		e.Op = op
	case *os.LinkError:
		e.Op = op
	}
	return err
}

// SyncDir makes the names in a directory durable. On Windows, js and wasip1, it only checks that the directory exists.
// Some network and FUSE file systems report that they cannot sync directories. For these, SyncDir returns nil, under
// the assumption that the file system keeps the order of changes.
func (o *OS) SyncDir(name string) error {
	local, err := localPath("sync", name)
	if err != nil {
		return err
	}
	return syncDir(o.root, local)
}

// localPath converts a slash-separated path to a path of the operating system. It returns an error for names that
// [fs.ValidPath] does not permit. On Windows, it also returns an error for names that contain a backslash or colon,
// and for names of devices such as NUL.
func localPath(op, name string) (string, error) {
	if err := checkName(op, name); err != nil {
		return "", err
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return local, nil
}
