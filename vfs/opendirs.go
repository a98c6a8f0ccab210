// This file keeps directories open, so that a file in an open directory can be opened with a single system call.

package vfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
)

// OpenDirs is a file system that opens each directory only once for all files that are opened in it. Without an
// OpenDirs, an [OS] opens each directory in a path again for each file, which takes longer than the creation of a
// small file. All other calls use the file system directly. An OpenDirs is safe for concurrent use.
type OpenDirs struct {
	FS
	mu   sync.Mutex
	dirs map[string]*os.Root // open directories by name (nil if the file system is not an OS)
}

// OpenDirsOnce returns an OpenDirs that opens files in fsys. If fsys is an [OS], each directory is opened only once and
// stays open until [OpenDirs.Close] is called. Any other file system is used directly.
//
// Until [OpenDirs.Close] is called, the caller must not rename or replace a directory in which files were opened.
// Otherwise the OpenDirs would continue to use the directory that it opened first.
func OpenDirsOnce(fsys FS) *OpenDirs {
	d := &OpenDirs{FS: fsys}
	if _, ok := fsys.(*OS); ok {
		d.dirs = map[string]*os.Root{}
	}
	return d
}

// OpenFile opens a file like [FS.OpenFile].
func (d *OpenDirs) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	o, ok := d.FS.(*OS)
	dir, base := path.Split(name)
	if !ok || dir == "" {
		return d.FS.OpenFile(name, flag, perm)
	}
	if err := checkFlag(name, flag); err != nil {
		return nil, err
	}
	if _, err := localPath("open", name); err != nil {
		return nil, err
	}
	root, err := d.openDir(o, path.Clean(dir))
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(base, flag|extraOpenFlags, perm.Perm())
	if err != nil {
		return nil, setErrorPath(withErrorOp("open", err), name)
	}
	f, err = requireRegular(f, name)
	if err != nil {
		return nil, err
	}
	return wrapFile(f)
}

// openDir returns an open directory. If necessary, it opens the directory.
func (d *OpenDirs) openDir(o *OS, dir string) (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if root, ok := d.dirs[dir]; ok {
		return root, nil
	}
	local, err := localPath("open", dir)
	if err != nil {
		return nil, err
	}
	root, err := o.root.OpenRoot(local)
	if err != nil {
		return nil, withErrorOp("open", err)
	}
	d.dirs[dir] = root
	return root, nil
}

// setErrorPath sets the path in an error to the file's whole name, because the path may be only the last element of
// the name.
func setErrorPath(err error, name string) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		e.Path = name
	}
	return err
}

// Close closes the directories. Files that were opened in the directories stay open.
func (d *OpenDirs) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	for _, root := range d.dirs {
		err = errors.Join(err, root.Close())
	}
	clear(d.dirs)
	return err
}
