// This file checks whether a name still refers to an open file. A store checks this before each read and write.

package vfs

import (
	"io/fs"
	"path/filepath"
)

// NameRefersTo reports whether a name refers to the file that info describes. The result is the same as with [FS.Stat]
// and [SameFile], but NameRefersTo is faster on some platforms.
func NameRefersTo(fsys FS, name string, info fs.FileInfo) (bool, error) {
	if o, ok := fsys.(*OS); ok {
		if err := checkName("stat", name); err != nil {
			return false, err
		}
		if same, known := o.dirHandle.refersTo(name, info); known {
			return same, nil
		}
	}
	now, err := fsys.Stat(name)
	return err == nil && SameFile(now, info), err
}

// RefersTo reports whether the name in the directory refers to the file that info describes. It is like [NameRefersTo],
// but also checks that the path that was passed to [Dir] still refers to the same directory. If the name refers to the
// file, but the path now refers to another directory or to nothing, the error matches [fs.ErrNotExist].
func (o *OS) RefersTo(name string, info fs.FileInfo) (bool, error) {
	if checkName("stat", name) == nil && refersTo(filepath.Join(o.path, name), info) {
		// The function refersTo used the whole path of the file. The path leads to the expected file, so the directory
		// o has not been replaced by another directory, and no further check is needed.
		return true, nil
	}
	same, err := NameRefersTo(o, name, info)
	if same && o.Moved() {
		return false, &fs.PathError{Op: "stat", Path: o.path, Err: fs.ErrNotExist}
	}
	return same, err
}
