// This file implements a file system that ignores the case of letters in names, like those of Windows and macOS.

package mdtree

import (
	"io/fs"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

type foldFS struct{ *vfs.Mem }

func newFoldFS() *foldFS { return &foldFS{vfs.NewMem()} }

// real returns the path name as its directories and its last element are spelled on disk. It ignores upper and lower
// case. An element that does not exist on disk keeps its spelling.
func (f *foldFS) real(name string) string {
	if name == "." {
		return name
	}
	dir := f.real(path.Dir(name))
	items, err := f.Mem.ReadDir(dir)
	if err == nil {
		for _, it := range items {
			if strings.EqualFold(it.Name(), path.Base(name)) {
				return path.Join(dir, it.Name())
			}
		}
	}
	return path.Join(dir, path.Base(name))
}

func (f *foldFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return f.Mem.OpenFile(f.real(name), flag, perm)
}
func (f *foldFS) Stat(name string) (fs.FileInfo, error)      { return f.Mem.Stat(f.real(name)) }
func (f *foldFS) ReadDir(name string) ([]fs.DirEntry, error) { return f.Mem.ReadDir(f.real(name)) }
func (f *foldFS) Remove(name string) error                   { return f.Mem.Remove(f.real(name)) }
func (f *foldFS) Rename(a, b string) error                   { return f.Mem.Rename(f.real(a), f.real(b)) }
