// The directory of the memory: finding it in a home, and a file system of it.

package clawft

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	ownDir    = ".clawft/workspace/memory"  // of a user's home directory
	legacyDir = ".nanobot/workspace/memory" // the same, of clawft's forerunner
)

// place is where the memory of a home is.
type place struct {
	dir   string // in the home; it need not be there
	there bool
	// other is a directory of the chain that holds a memory, too, and is not
	// read.
	other   string
	markers int // how sure it is that this is the layout, 0 when it only could be
}

// find decides which directory of a home holds the memory: by the directories
// that are there, not by the files in them, and once. Home is a user's home
// directory, as in the design; or .clawft in it, or the workspace, or the
// directory of the memory itself. shown is the home as people know it, whose
// name counts only when there is nothing in it.
func find(fsys vfs.FS, shown string) (place, error) {
	at := prober{fs: fsys}
	is, held := at.is, at.held
	p := place{there: true}
	switch {
	case is(ownDir, true):
		p.dir, p.markers = ownDir, 2+held(ownDir)
		if held(ownDir) == 0 && held(legacyDir) > 0 {
			p.other = legacyDir
		}
	case is(legacyDir, true):
		p.dir, p.markers = legacyDir, 2+held(legacyDir)
	case is("workspace/memory", true):
		p.dir, p.markers = "workspace/memory", 1+held("workspace/memory")
	case is("memory/"+historyFile, false):
		// MEMORY.md alone is no mark: other layouts have it there, too.
		p.dir, p.markers = "memory", 1+held("memory")
	case held(".") > 0:
		p.dir = "."
		if held(".") == 2 {
			p.markers = 2
		}
	case is("memory/"+memoryFile, false):
		p.dir = "memory"
	default:
		p.dir, p.there = newDir(shown), false
		if p.dir != ownDir {
			p.there = is(p.dir, true)
		}
	}
	return p, at.err
}

// prober looks for files and directories, and collects the errors.
type prober struct {
	fs  vfs.FS
	err error
}

// is reports whether there is a directory of that name or, without dir, a file.
func (p *prober) is(name string, dir bool) bool {
	info, err := p.fs.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !belowFile(p.fs, name) {
		p.err = errors.Join(p.err, err)
	}
	return err == nil && info.IsDir() == dir
}

// held returns how many of the two files a directory has.
func (p *prober) held(dir string) (n int) {
	for _, f := range []string{memoryFile, historyFile} {
		if p.is(path.Join(dir, f), false) {
			n++
		}
	}
	return n
}

// belowFile reports whether what should be a directory above a name is none. The
// errors of systems for that differ.
func belowFile(fsys vfs.FS, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := fsys.Stat(dir); err == nil {
			return !info.IsDir()
		}
	}
	return false
}

// detect counts a directory of clawft's or nanobot's as two markers, and each of the
// files in it as one. A directory that cannot be looked at is none of clawft's,
// until it is named: then [Open] says what is wrong.
func detect(fsys vfs.FS) (int, error) {
	p, err := find(fsys, "")
	if err != nil {
		return 0, nil
	}
	return p.markers, nil
}

// newDir returns where the memory of an empty home is made.
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

// below is a directory of a file system as one of its own. It need not be there:
// opening the lock, before the first write, makes it.
type below struct {
	vfs.FS
	dir string
}

var _ vfs.FS = (*below)(nil)

// name returns the name in the file system above. What leaves the directory
// stays a name that is refused there.
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

// OpenLock makes the directory durable before the lock in it.
func (b *below) OpenLock(name string) (vfs.Lock, error) {
	if err := layout.MakeDir(b.FS, b.dir); err != nil {
		return nil, err
	}
	return b.FS.OpenLock(b.name(name))
}
