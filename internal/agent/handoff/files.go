// This file checks the files that a handoff names. The names come from an agent, so files outside of
// the working directory are not checked.

package handoff

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// File is a file that a handoff names.
type File struct {
	Name    string `json:"name"` // as in the handoff, but with slashes and relative to the working directory if inside
	Bytes   int64  `json:"bytes,omitempty"`
	Trouble string `json:"trouble,omitempty"` // why the file cannot be read ("" if it can be read)
}

// Look checks whether the named files can be read, and returns them in the same order. Dir is the path of
// the working directory. A name that leads out of dir is not looked up. Stat returns the information about
// a file, whose name has slashes and is relative to dir. It must not follow links that lead out of dir. If
// stat is nil, the files are not checked.
func Look(names []string, dir string, stat func(name string) (fs.FileInfo, error)) []File {
	files := make([]File, len(names))
	for i, name := range names {
		files[i] = describeFile(name, dir, stat)
	}
	return files
}

func describeFile(name, dir string, stat func(name string) (fs.FileInfo, error)) File {
	if stat == nil {
		return File{Name: name}
	}
	rel := filepath.Clean(filepath.FromSlash(name))
	if filepath.IsAbs(rel) {
		r, err := filepath.Rel(dir, rel)
		if err != nil {
			return File{Name: name, Trouble: "outside the working directory, not looked at"}
		}
		rel = r
	}
	if !filepath.IsLocal(rel) {
		return File{Name: name, Trouble: "outside the working directory, not looked at"}
	}
	f := File{Name: filepath.ToSlash(rel)}
	fi, err := stat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Trouble = "missing"
	case err != nil:
		f.Trouble = "cannot be read" // for example, a link that leads out of the directory
	case fi.IsDir():
		f.Trouble = "a directory"
	case !fi.Mode().IsRegular():
		f.Trouble = "not a regular file"
	default:
		f.Bytes = fi.Size()
	}
	return f
}
