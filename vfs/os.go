// File system of the operating system, under one root.

package vfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// OS is a directory of the operating system as a file system. All its names
// are opened through one [os.Root]: a name or a symbolic link that leaves the
// directory is refused, also when a directory is replaced by a link
// meanwhile. On Windows that also means that files are opened so that others
// may rename and remove them, and that a rename replaces a file that is open.
type OS struct {
	root  *os.Root
	path  string
	info  fs.FileInfo // of the directory
	place place
}

var _ FS = (*OS)(nil)

// Dir opens the directory at path, which is a path of the operating system and
// must exist. The directory stays the same one when it is moved or when the
// process changes its working directory.
func Dir(path string) (*OS, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("opening directory: %w", err)
	}
	info, err := root.Stat(".")
	if err != nil {
		_ = root.Close() // nothing was written through it
		return nil, fmt.Errorf("opening directory: %w", err)
	}
	o := &OS{root: root, path: path, info: info}
	o.place.open(o.root)
	return o, nil
}

// Moved reports whether the path that [Dir] was given leads to another directory by
// now, or nowhere.
func (o *OS) Moved() bool {
	now, err := os.Stat(o.path)
	return errors.Is(err, fs.ErrNotExist) || (err == nil && !os.SameFile(now, o.info))
}

// Path returns the path that [Dir] was given.
func (o *OS) Path() string { return o.path }

// Close closes the directory. Files and locks that are open stay so; all
// other calls then fail with [fs.ErrClosed].
func (o *OS) Close() error {
	_ = o.place.Close() // nothing was written through it
	return o.root.Close()
}

// OpenFile opens a regular file; any other (a directory, pipe or device) is
// refused, and opening a pipe does not wait for its other end. The process's
// umask narrows perm, of which only the nine permission bits count.
func (o *OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := checkFlag(name, flag); err != nil {
		return nil, err
	}
	f, err := o.open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return asFile(f)
}

// open is OpenFile that returns the file of package os.
func (o *OS) open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	local, err := localize("open", name)
	if err != nil {
		return nil, err
	}
	f, err := o.root.OpenFile(local, flag|extraFlags, perm.Perm())
	if err != nil {
		return nil, ofCall("open", err)
	}
	return regular(f, name)
}

// OpenRegular is [os.Open] of a regular file alone; any other is refused, as
// [OS.OpenFile] does. It is for paths that other programs name.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|extraFlags, 0)
	if err != nil {
		return nil, err
	}
	return regular(f, path)
}

// regular returns a file that is a regular one, and closes any other.
func regular(f *os.File, name string) (*os.File, error) {
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

// Stat describes what the name leads to, following links inside the root.
func (o *OS) Stat(name string) (fs.FileInfo, error) {
	local, err := localize("stat", name)
	if err != nil {
		return nil, err
	}
	info, err := o.root.Stat(local)
	return info, ofCall("stat", err)
}

// ReadDir lists a directory, sorted by name. Links are listed as links.
func (o *OS) ReadDir(name string) ([]fs.DirEntry, error) {
	local, err := localize("readdir", name)
	if err != nil {
		return nil, err
	}
	// A pipe of that name must not make the call wait.
	d, err := o.root.OpenFile(local, os.O_RDONLY|extraFlags, 0)
	if err != nil {
		return nil, ofCall("open", err)
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// MkdirAll makes a directory and those above it. None of them is durable
// before the directory that holds it was synced.
func (o *OS) MkdirAll(name string, perm fs.FileMode) error {
	local, err := localize("mkdir", name)
	if err != nil {
		return err
	}
	return ofCall("mkdir", o.root.MkdirAll(local, perm.Perm()))
}

// Rename moves a file or directory. A link is moved or replaced itself, not
// what it leads to. A directory is never replaced. On Windows, it waits up to
// two seconds for others that have a file open in a way that forbids it.
func (o *OS) Rename(oldname, newname string) error {
	from, ferr := localize("rename", oldname)
	to, terr := localize("rename", newname)
	if err := cmp.Or(ferr, terr); err != nil {
		return err
	}
	if oldname == "." || newname == "." {
		return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: fs.ErrInvalid}
	}
	return ofCall("rename", untilFree(func() error { return o.root.Rename(from, to) }))
}

// Link makes newname a second name of the file oldname. It fails with [fs.ErrExist] if newname
// is taken, and with [ErrUnsupported] if the file system has no hard links.
func (o *OS) Link(oldname, newname string) error {
	from, ferr := localize("link", oldname)
	to, terr := localize("link", newname)
	if err := cmp.Or(ferr, terr); err != nil {
		return err
	}
	err := o.root.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return ofCall("link", err)
	}
	return fmt.Errorf("%w: %w", ErrUnsupported, err)
}

// Chmod sets the permissions of a file.
func (o *OS) Chmod(name string, mode fs.FileMode) error {
	local, err := localize("chmod", name)
	if err != nil {
		return err
	}
	return ofCall("chmod", o.root.Chmod(local, mode.Perm()))
}

// Remove deletes a file, a link or an empty directory.
func (o *OS) Remove(name string) error {
	local, err := localize("remove", name)
	if err != nil {
		return err
	}
	if name == "." {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	return ofCall("remove", untilFree(func() error { return o.root.Remove(local) }))
}

// ofCall names the call in the error that a root made of it, of which it says "openat".
func ofCall(op string, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		e.Op = op
	case *os.LinkError:
		e.Op = op
	}
	return err
}

// SyncDir makes the names in a directory durable. On Windows, js and wasip1 it
// only checks that the directory is there. A file system that answers that it
// cannot sync directories (some network and FUSE ones do) is taken to keep
// their order by itself.
func (o *OS) SyncDir(name string) error {
	local, err := localize("sync", name)
	if err != nil {
		return err
	}
	return syncDir(o.root, local)
}

// localize turns a slash path into one of the operating system. It refuses
// names that are not valid by [fs.ValidPath] and, on Windows, those with a
// backslash or colon and the names of devices such as NUL.
func localize(op, name string) (string, error) {
	if err := checkName(op, name); err != nil {
		return "", err
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return local, nil
}
