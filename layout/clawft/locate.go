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
	memoryDir = ".clawft/workspace/memory"  // directory of the memory in a user's home directory
	legacyDir = ".nanobot/workspace/memory" // the same directory of nanobot, clawft's predecessor
)

// memoryPlace is the location of a home's memory.
type memoryPlace struct {
	dir    string // path in the home (may not exist)
	exists bool
	// otherDir is another directory with a memory, which is not read.
	otherDir    string
	markerCount int // number of signs that the home has this layout; 0 means that it is only possible
}

// findMemoryDir returns the directory of a home that contains the memory. The home is a user's home
// directory, the directory .clawft in it, the workspace, or the directory of the memory itself.
// find decides mainly by which directories exist, not by the files in them. shown is the path of
// the home. The last element of shown matters only if the home contains no memory.
func findMemoryDir(fsys vfs.FS, shown string) (memoryPlace, error) {
	at := prober{fs: fsys}
	isDir, isFile, held := at.isDir, at.isFile, at.countFiles
	p := memoryPlace{exists: true}
	switch {
	case isDir(memoryDir):
		p.dir, p.markerCount = memoryDir, 2+held(memoryDir)
		if held(memoryDir) == 0 && held(legacyDir) > 0 {
			p.otherDir = legacyDir
		}
	case isDir(legacyDir):
		p.dir, p.markerCount = legacyDir, 2+held(legacyDir)
	case isDir("workspace/memory"):
		p.dir, p.markerCount = "workspace/memory", 1+held("workspace/memory")
	case isFile("memory/" + historyFile):
		// MEMORY.md is not sufficient, because other layouts also have it there.
		p.dir, p.markerCount = "memory", 1+held("memory")
	case held(".") > 0:
		p.dir = "."
		if held(".") == 2 {
			p.markerCount = 2
		}
	case isFile("memory/" + memoryFile):
		p.dir = "memory"
	default:
		p.dir, p.exists = newMemoryDir(shown), false
		if p.dir != memoryDir {
			p.exists = isDir(p.dir)
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
	info := p.statOrNil(name)
	return info != nil && info.IsDir()
}

// isFile reports whether a file with the name exists.
func (p *prober) isFile(name string) bool {
	info := p.statOrNil(name)
	return info != nil && !info.IsDir()
}

// statOrNil returns the description of a file, or nil if it cannot be read, for example because the file
// does not exist.
func (p *prober) statOrNil(name string) fs.FileInfo {
	info, err := p.fs.Stat(name)
	if err == nil {
		return info
	}
	if !errors.Is(err, fs.ErrNotExist) && !isBelowFile(p.fs, name) {
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

// isBelowFile reports whether a parent of the name is a file and not a directory. Operating systems
// report this with different errors.
func isBelowFile(fsys vfs.FS, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := fsys.Stat(dir); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// countMarkers counts a clawft or nanobot directory as two markers, and each memory file as one
// marker. It returns 0 if the home cannot be read, because [Open] reports the error if the home
// is opened.
func countMarkers(fsys vfs.FS) (int, error) {
	p, err := findMemoryDir(fsys, "")
	if err != nil {
		return 0, nil
	}
	return p.markerCount, nil
}

// newMemoryDir returns the directory for the memory of an empty home.
func newMemoryDir(shown string) string {
	names := strings.Split(path.Clean(filepath.ToSlash(shown)), "/")
	for _, top := range []string{".clawft", ".nanobot"} {
		whole := []string{top, "workspace", "memory"}
		for n := 1; n <= len(whole); n++ {
			if len(names) >= n && slices.Equal(names[len(names)-n:], whole[:n]) {
				return path.Join(append([]string{"."}, whole[n:]...)...)
			}
		}
	}
	return memoryDir
}

// subdirectory presents a directory of a file system as a file system. The directory need not exist.
// OpenLock, which is called before the first write, creates it.
type subdirectory struct {
	vfs.FS
	dir string
}

var _ vfs.FS = (*subdirectory)(nil)

// fullName returns the name in the underlying file system. An invalid name is returned unchanged, so
// that the underlying file system rejects it.
func (b *subdirectory) fullName(name string) string {
	if !fs.ValidPath(name) {
		return name
	}
	return path.Join(b.dir, name)
}

func (b *subdirectory) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return b.FS.OpenFile(b.fullName(name), flag, perm)
}
func (b *subdirectory) Stat(name string) (fs.FileInfo, error) { return b.FS.Stat(b.fullName(name)) }
func (b *subdirectory) ReadDir(name string) ([]fs.DirEntry, error) {
	return b.FS.ReadDir(b.fullName(name))
}
func (b *subdirectory) MkdirAll(name string, perm fs.FileMode) error {
	return b.FS.MkdirAll(b.fullName(name), perm)
}
func (b *subdirectory) Rename(from, to string) error {
	return b.FS.Rename(b.fullName(from), b.fullName(to))
}
func (b *subdirectory) Remove(name string) error  { return b.FS.Remove(b.fullName(name)) }
func (b *subdirectory) SyncDir(name string) error { return b.FS.SyncDir(b.fullName(name)) }

// OpenLock durably creates the directory and then opens the lock in it.
func (b *subdirectory) OpenLock(name string) (vfs.Lock, error) {
	if err := dialect.MakeDir(b.FS, b.dir); err != nil {
		return nil, err
	}
	return b.FS.OpenLock(b.fullName(name))
}
