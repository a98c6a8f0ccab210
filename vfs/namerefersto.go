// Whether a name still refers to an open file: a store checks before each read and
// each write.

package vfs

import "io/fs"

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
