// Whether a name still refers to an open file: a store checks before each read and
// each write.

package vfs

import (
	"io/fs"
	"path/filepath"
)

// NameRefersTo reports whether the name leads to the file that info describes. It is
// [FS.Stat] and [SameFile], and cheaper where the file system knows a way.
func NameRefersTo(fsys FS, name string, info fs.FileInfo) (bool, error) {
	if o, ok := fsys.(*OS); ok {
		if err := checkName("stat", name); err != nil {
			return false, err
		}
		if same, known := o.place.refersTo(name, info); known {
			return same, nil
		}
	}
	now, err := fsys.Stat(name)
	return err == nil && SameFile(now, info), err
}

// RefersTo is [NameRefersTo] by the path that [Dir] was given: that the directory is
// elsewhere by now is [fs.ErrNotExist].
func (o *OS) RefersTo(name string, info fs.FileInfo) (bool, error) {
	if checkName("stat", name) == nil && refersTo(filepath.Join(o.path, name), info) {
		return true, nil // both, by one look
	}
	same, err := NameRefersTo(o, name, info)
	if same && o.Moved() {
		return false, &fs.PathError{Op: "stat", Path: o.path, Err: fs.ErrNotExist}
	}
	return same, err
}
