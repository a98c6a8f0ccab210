// This file decides whether a directory can be a home, and collects the facts about a home.

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

// DirName is the name of a project's home. The directory also contains annotations, team files,
// profiles and skills of the project.
const DirName = ".oxbow"

// shared lists the names in DirName that people commit on purpose, and those that desktop
// environments create in any directory. They do not make a directory a home.
var shared = []string{"annotations", "team", "profiles", "memory-profiles", "skills", ".gitignore", ".gitattributes",
	".ds_store", "desktop.ini", "thumbs.db"}

// isShared reports whether a file or directory in DirName is not evidence of a home, because it is
// shared (such as team files) or only switches hooks off. Letter case is ignored, as on most file
// systems of macOS and Windows.
func isShared(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(shared, name) || strings.HasSuffix(name, ".off")
}

// MayBeHome reports whether a directory's content allows it to be a home, which is so if it is
// empty or contains more than shared files.
func MayBeHome(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0 || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !isShared(e.Name()) })
}

// facts are the facts that decide whether a home is the user's own.
type facts struct {
	home, store string
	path        string // path of the home with symbolic links resolved
	link        string // path of the home itself if it is a link, otherwise ""
	id          sysinfo.FileID
	print       string    // fingerprint
	items       []string  // names in the home that are not shared
	oldest      time.Time // earliest change of items or of the link, as the earliest proof that the home existed
	tracked     []string  // names in the home that git tracks and that are not shared ("." is the home itself)
	gitErr      error     // error that prevented finding out tracked
}

// tracks reports whether git tracks the name.
func (f *facts) tracks(name string) bool { return slices.Contains(f.tracked, name) }

// examineHome collects the facts about a home.
func examineHome(home, store string) (facts, error) {
	f := facts{home: home, store: store, path: realPath(home), id: sysinfo.ReadFileID(home)}
	fi, err := os.Lstat(home)
	if err != nil {
		return f, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		f.link, f.oldest = filepath.Join(realPath(filepath.Dir(home)), filepath.Base(home)), sysinfo.LastChange(fi)
	}
	f.print, err = Fingerprint(home, store)
	if err != nil {
		f.print = layoutPrint // the error is reported when the home is opened
	}
	// If they are equal, the home is a file, which is the memory itself.
	if err := f.readItems(); err != nil && store != home {
		return f, err
	}
	f.readTracked()
	return f, nil
}

// readItems sets items and oldest.
func (f *facts) readItems() error {
	entries, err := os.ReadDir(f.home)
	for _, e := range entries {
		fi, err := e.Info()
		if isShared(e.Name()) || err != nil {
			continue
		}
		f.items = append(f.items, e.Name())
		if at := sysinfo.LastChange(fi); f.link == "" && (f.oldest.IsZero() || at.Before(f.oldest)) {
			f.oldest = at
		}
	}
	return err
}

// readTracked sets tracked, for the home's path with and without symbolic links.
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
