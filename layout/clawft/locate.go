// This file finds the directory of the memory in a home.

package clawft

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/layout/internal/dialect"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	ownDir    = ".clawft/workspace/memory"  // directory of the memory in a user's home directory
	legacyDir = ".nanobot/workspace/memory" // the same directory of nanobot, clawft's predecessor
)

// place is the location of a home's memory.
type place struct {
	dir   string // path in the home (may not exist)
	there bool
	// other is another directory with a memory, which is not read.
	other   string
	markers int // number of signs that the home has this layout; 0 means that it is only possible
}

// find returns the directory of a home that contains the memory. The home is a user's home
// directory, the directory .clawft in it, the workspace, or the directory of the memory itself.
// find decides mainly by which directories exist, not by the files in them. shown is the path of
// the home. The last element of shown matters only if the home contains no memory.
func find(fsys vfs.FS, shown string) (place, error) {
	at := prober{fs: fsys}
	isDir, isFile, held := at.isDir, at.isFile, at.countFiles
	p := place{there: true}
	switch {
	case isDir(ownDir):
		p.dir, p.markers = ownDir, 2+held(ownDir)
		if held(ownDir) == 0 && held(legacyDir) > 0 {
			p.other = legacyDir
		}
	case isDir(legacyDir):
		p.dir, p.markers = legacyDir, 2+held(legacyDir)
	case isDir("workspace/memory"):
		p.dir, p.markers = "workspace/memory", 1+held("workspace/memory")
	case isFile("memory/" + historyFile):
		// MEMORY.md is not sufficient, because other layouts also have it there.
		p.dir, p.markers = "memory", 1+held("memory")
	case held(".") > 0:
		p.dir = "."
		if held(".") == 2 {
			p.markers = 2
		}
	case isFile("memory/" + memoryFile):
		p.dir = "memory"
	default:
		p.dir, p.there = newDir(shown), false
		if p.dir != ownDir {
			p.there = isDir(p.dir)
		}
	}
	return p, at.err
}

// prober checks whether files and directories exist, and collects the errors of the checks.
type prober struct {
	fs  vfs.FS
	err error
}

// isDir reports whether a directory with the name exists.
func (p *prober) isDir(name string) bool {
	info := p.stat(name)
	return info != nil && info.IsDir()
}

// isFile reports whether a file with the name exists.
func (p *prober) isFile(name string) bool {
	info := p.stat(name)
	return info != nil && !info.IsDir()
}

// stat returns the description of a file, or nil if it cannot be read, for example because the file
// does not exist.
func (p *prober) stat(name string) fs.FileInfo {
	info, err := p.fs.Stat(name)
	if err == nil {
		return info
	}
	if !errors.Is(err, fs.ErrNotExist) && !belowFile(p.fs, name) {
		p.err = errors.Join(p.err, err)
	}
	return nil
}

// countFiles returns the number of memory files, MEMORY.md and HISTORY.md, in a directory.
func (p *prober) countFiles(dir string) (n int) {
	for _, f := range []string{memoryFile, historyFile} {
		if p.isFile(path.Join(dir, f)) {
			n++
		}
	}
	return n
}

// belowFile reports whether a parent of the name is a file and not a directory. Operating systems
// report this with different errors.
func belowFile(fsys vfs.FS, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := fsys.Stat(dir); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// detect counts a clawft or nanobot directory as two markers, and each memory file as one
// marker. It returns 0 if the home cannot be read, because [Open] reports the error if the home
// is opened.
func detect(fsys vfs.FS) (int, error) {
	p, err := find(fsys, "")
	if err != nil {
		return 0, nil
	}
	return p.markers, nil
}

// newDir returns the directory for the memory of an empty home.
func newDir(shown string) string {
	names := strings.Split(path.Clean(filepath.ToSlash(shown)), "/")
	for _, top := range []string{".clawft", ".nanobot"} {
		whole := []string{top, "workspace", "memory"}
		for n := 1; n <= len(whole); n++ {
			if len(names) >= n && slices.Equal(names[len(names)-n:], whole[:n]) {
				return path.Join(append([]string{"."}, whole[n:]...)...)
			}
		}
	}
	return ownDir
}

// below presents a directory of a file system as a file system. The directory need not exist.
// OpenLock, which is called before the first write, creates it.
type below struct {
	vfs.FS
	dir string
}

var _ vfs.FS = (*below)(nil)

// name returns the name in the underlying file system. An invalid name is returned unchanged, so
// that the underlying file system rejects it.
func (b *below) name(name string) string {
	if !fs.ValidPath(name) {
		return name
	}
	return path.Join(b.dir, name)
}

func (b *below) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return b.FS.OpenFile(b.name(name), flag, perm)
}
func (b *below) Stat(name string) (fs.FileInfo, error)      { return b.FS.Stat(b.name(name)) }
func (b *below) ReadDir(name string) ([]fs.DirEntry, error) { return b.FS.ReadDir(b.name(name)) }
func (b *below) MkdirAll(name string, perm fs.FileMode) error {
	return b.FS.MkdirAll(b.name(name), perm)
}
func (b *below) Rename(from, to string) error { return b.FS.Rename(b.name(from), b.name(to)) }
func (b *below) Remove(name string) error     { return b.FS.Remove(b.name(name)) }
func (b *below) SyncDir(name string) error    { return b.FS.SyncDir(b.name(name)) }

// OpenLock durably creates the directory and then opens the lock in it.
func (b *below) OpenLock(name string) (vfs.Lock, error) {
	if err := dialect.MakeDir(b.FS, b.dir); err != nil {
		return nil, err
	}
	return b.FS.OpenLock(b.name(name))
}
