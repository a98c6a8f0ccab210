// This file finds the directory that contains the memory, which may be below the directory that the user has chosen.

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
	clawftMemoryDir = ".clawft/workspace/memory" // directory of the memory, below the user's home directory
	// directory with the memory of nanobot, the program that clawft replaces, below the user's home directory
	nanobotMemoryDir = ".nanobot/workspace/memory"
)

// memoryLocation is the directory that contains the memory of a home.
type memoryLocation struct {
	memoryDir string // path of the memory's directory in the home; it may not exist yet
	exists    bool
	// otherMemoryDir is another directory in the home that also looks like a memory. It is not read.
	otherMemoryDir string
	// number of files and directories that are typical for this layout. 0 means that the home may have another layout.
	layoutMarkerCount int
}

// findMemoryDir finds the directory with the memory in a home. The home may be a user's home directory, the directory
// .clawft in it, the workspace, or the memory directory itself. findMemoryDir recognizes the kind of home by the
// directories and memory files in it. If the home contains no memory, the directory for a new memory is derived from
// displayPath, the path of the home. The result also counts the signs that the home has this layout.
func findMemoryDir(fsys vfs.FS, displayPath string) (memoryLocation, error) {
	at := fileExistenceChecker{fs: fsys}
	isDir, isFile, held := at.isDir, at.isFile, at.countFiles
	p := memoryLocation{exists: true}
	switch {
	case isDir(clawftMemoryDir):
		p.memoryDir, p.layoutMarkerCount = clawftMemoryDir, 2+held(clawftMemoryDir)
		if held(clawftMemoryDir) == 0 && held(nanobotMemoryDir) > 0 {
			p.otherMemoryDir = nanobotMemoryDir
		}
	case isDir(nanobotMemoryDir):
		p.memoryDir, p.layoutMarkerCount = nanobotMemoryDir, 2+held(nanobotMemoryDir)
	case isDir("workspace/memory"):
		p.memoryDir, p.layoutMarkerCount = "workspace/memory", 1+held("workspace/memory")
	case isFile("memory/" + historyFile):
		// HISTORY.md shows that the directory has this layout. MEMORY.md would not, because other layouts have a file
		// memory/MEMORY.md as well.
		p.memoryDir, p.layoutMarkerCount = "memory", 1+held("memory")
	case held(".") > 0:
		p.memoryDir = "."
		if held(".") == 2 {
			p.layoutMarkerCount = 2
		}
	case isFile("memory/" + memoryFile):
		p.memoryDir = "memory"
	default:
		p.memoryDir, p.exists = defaultMemoryDir(displayPath), false
		if p.memoryDir != clawftMemoryDir {
			p.exists = isDir(p.memoryDir)
		}
	}
	return p, at.err
}

// fileExistenceChecker checks whether files and directories exist. It collects the errors of these checks.
type fileExistenceChecker struct {
	fs  vfs.FS
	err error
}

// isDir reports whether a directory with this name exists.
func (p *fileExistenceChecker) isDir(name string) bool {
	info := p.statOrNil(name)
	return info != nil && info.IsDir()
}

// isFile reports whether a file with this name exists.
func (p *fileExistenceChecker) isFile(name string) bool {
	info := p.statOrNil(name)
	return info != nil && !info.IsDir()
}

// statOrNil returns the description of a file, or nil if the file is missing or cannot be examined. In the second case,
// it adds the error to p.err.
func (p *fileExistenceChecker) statOrNil(name string) fs.FileInfo {
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
func (p *fileExistenceChecker) countFiles(dir string) (n int) {
	for _, f := range []string{memoryFile, historyFile} {
		if p.isFile(path.Join(dir, f)) {
			n++
		}
	}
	return n
}

// isBelowFile reports whether the nearest existing parent of the path name is a file, so that the path cannot exist.
// For example, "a/b" is below a file if "a" is a file. Operating systems report this case with different errors.
func isBelowFile(fsys vfs.FS, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := fsys.Stat(dir); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// countLayoutMarkers returns how many signs show that a home has this layout (see findMemoryDir). The result is 0 if
// the home cannot be read, because [Open] then reports the error.
func countLayoutMarkers(fsys vfs.FS) (int, error) {
	p, err := findMemoryDir(fsys, "")
	if err != nil {
		return 0, nil
	}
	return p.layoutMarkerCount, nil
}

// defaultMemoryDir returns the directory for the memory of a home that lacks a memory directory.
func defaultMemoryDir(displayPath string) string {
	names := strings.Split(path.Clean(filepath.ToSlash(displayPath)), "/")
	for _, top := range []string{".clawft", ".nanobot"} {
		whole := []string{top, "workspace", "memory"}
		for n := 1; n <= len(whole); n++ {
			if len(names) >= n && slices.Equal(names[len(names)-n:], whole[:n]) {
				return path.Join(append([]string{"."}, whole[n:]...)...)
			}
		}
	}
	return clawftMemoryDir
}

// subdirectory is the file system of a directory in another file system. The directory need not exist. OpenLock
// creates it before the first write.
type subdirectory struct {
	vfs.FS
	dir string
}

var _ vfs.FS = (*subdirectory)(nil)

// fullName returns the name of a file in the outer file system, which contains the directory. It returns an invalid
// name unchanged, so that the outer file system refuses the name.
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
