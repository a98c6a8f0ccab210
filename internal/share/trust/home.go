// This file says what makes a directory a home, and gathers the facts about one.

package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// DirName is the name of a project's own home, and of the directory in which a
// project keeps annotations, team files, profiles and skills.
const DirName = ".oxbow"

// shared are the names in DirName that people commit on purpose, and those that
// desktops leave in any directory. They make no directory a home.
var shared = []string{"annotations", "team", "profiles", "memory-profiles", "skills", ".gitignore", ".gitattributes",
	".ds_store", "desktop.ini", "thumbs.db"}

// isShared reports whether a name in DirName makes no home of it: that of a shared
// file or directory, or of a switch of hooks. Letter case does not count, as on most
// file systems of macOS and Windows.
func isShared(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(shared, name) || strings.HasSuffix(name, ".off")
}

// MayBeHome reports whether a directory may be a home by its content: it is empty,
// or holds more than what projects share.
func MayBeHome(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !isShared(e.Name()) })
}

// facts is what decides whether a home is the user's own.
type facts struct {
	home, store string
	path        string // of the home, without links
	link        string // the home itself if it is a link, else ""
	id          sysinfo.FileID
	print       string    // fingerprint
	items       []string  // names in the home that are not shared
	oldest      time.Time // of the items, or of the link: the earliest proof that the home existed
	tracked     []string  // what git tracks of the home and is not shared; "." is the home itself
	gitErr      error     // why that is unknown
}

// tracks reports whether git tracks the name.
func (f *facts) tracks(name string) bool { return slices.Contains(f.tracked, name) }

// examine gathers the facts about a home.
func examine(home, store string) (facts, error) {
	f := facts{home: home, store: store, path: realPath(home), id: sysinfo.FileIDOf(home)}
	fi, err := os.Lstat(home)
	if err != nil {
		return f, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		f.link, f.oldest = filepath.Join(realPath(filepath.Dir(home)), filepath.Base(home)), sysinfo.Changed(fi)
	}
	f.print, err = Fingerprint(home, store)
	if err != nil {
		f.print = layoutPrint // What cannot be read is named when it is opened.
	}
	if err := f.readItems(); err != nil && store != home { // else the home is a file, which is the memory
		return f, err
	}
	f.readTracked()
	return f, nil
}

// readItems finds what lies in the home, and since when.
func (f *facts) readItems() error {
	entries, err := os.ReadDir(f.home)
	for _, e := range entries {
		fi, err := e.Info()
		if isShared(e.Name()) || err != nil {
			continue
		}
		f.items = append(f.items, e.Name())
		if at := sysinfo.Changed(fi); f.link == "" && (f.oldest.IsZero() || at.Before(f.oldest)) {
			f.oldest = at
		}
	}
	return err
}

// readTracked finds what git tracks of the home, by the path that it was found by and
// by the one that this leads to.
func (f *facts) readTracked() {
	for _, path := range slices.Compact([]string{f.home, f.path}) {
		names, err := git.Tracked(path)
		if err != nil && f.gitErr == nil {
			f.gitErr = err
		}
		for _, n := range names {
			if top, _, _ := strings.Cut(n, "/"); !isShared(top) {
				f.tracked = append(f.tracked, n)
			}
		}
	}
}
