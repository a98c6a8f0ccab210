// Looks at the files that a handoff names. Their names come from an
// agent: none is looked at outside of the working directory.

package handoff

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// File is a file that a handoff names.
type File struct {
	Name    string `json:"name"` // as named; relative to the working directory and with slashes when it lies inside
	Bytes   int64  `json:"bytes,omitempty"`
	Trouble string `json:"trouble,omitempty"` // why it cannot be read, "" when it can
}

// Look looks for files in the working directory, in their order. Dir is its
// absolute path and fsys its files; it must not follow links that lead out of
// it, as the FS of an os.Root does not. A name that leads out of dir is not
// looked at.
func Look(names []string, dir string, fsys fs.FS) []File {
	files := make([]File, len(names))
	for i, name := range names {
		files[i] = look(name, dir, fsys)
	}
	return files
}

func look(name, dir string, fsys fs.FS) File {
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
	fi, err := fs.Stat(fsys, f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Trouble = "missing"
	case err != nil:
		f.Trouble = "cannot be read" // such as a link that leads out
	case fi.IsDir():
		f.Trouble = "a directory"
	case !fi.Mode().IsRegular():
		f.Trouble = "not a regular file"
	default:
		f.Bytes = fi.Size()
	}
	return f
}
