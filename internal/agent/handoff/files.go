// This file checks the files that a handoff names. Because an agent chose the names, files outside of the working
// directory are not checked.

package handoff

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// File is a file that a handoff names.
type File struct {
	// name as in the handoff, but with slashes, and relative if the file is in the working directory
	Name        string `json:"name"`
	Size        int64  `json:"bytes,omitempty"`
	ReadProblem string `json:"trouble,omitempty"` // reason why the file cannot be read, or ""
}

// CheckFiles checks which of the named files can be read. The result has the order of the names. dir is the working
// directory's path. Names that lead out of dir are not checked. stat returns information about a file in dir. It
// receives a name with slashes, and must not follow links that lead out of dir. If stat is nil, no file is checked.
func CheckFiles(names []string, dir string, stat func(name string) (fs.FileInfo, error)) []File {
	files := make([]File, len(names))
	for i, name := range names {
		files[i] = describeFile(name, dir, stat)
	}
	return files
}

// describeFile returns the description of one file for [CheckFiles].
func describeFile(name, dir string, stat func(name string) (fs.FileInfo, error)) File {
	if stat == nil {
		return File{Name: name}
	}
	rel := filepath.Clean(filepath.FromSlash(name))
	if filepath.IsAbs(rel) {
		r, err := filepath.Rel(dir, rel)
		if err != nil {
			return File{Name: name, ReadProblem: "outside the working directory, not looked at"}
		}
		rel = r
	}
	if !filepath.IsLocal(rel) {
		return File{Name: name, ReadProblem: "outside the working directory, not looked at"}
	}
	f := File{Name: filepath.ToSlash(rel)}
	fi, err := stat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.ReadProblem = "missing"
	case err != nil:
		// A symbolic link that leads out of the directory cannot be read, for example.
		f.ReadProblem = "cannot be read"
	case fi.IsDir():
		f.ReadProblem = "a directory"
	case !fi.Mode().IsRegular():
		f.ReadProblem = "not a regular file"
	default:
		f.Size = fi.Size()
	}
	return f
}
