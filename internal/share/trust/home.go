// This file decides whether a directory can be a home, and collects the facts that decide whether a home belongs to
// the user.

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

// sharedNames lists the names in a home's directory that people commit on purpose, and the names of files that desktop
// environments create in any directory. A directory that contains only such names is not a home.
var sharedNames = []string{"annotations", "team", "profiles", "memory-profiles", "skills", ".gitignore",
	".gitattributes",
	".ds_store", "desktop.ini", "thumbs.db"}

// isSharedName reports whether a name in a directory is no evidence that the directory is somebody's oxbow home. The
// name may be a file that people share on purpose, such as a team file, or a file that only switches off hooks. Letter
// case is ignored, as on most file systems of macOS and Windows.
func isSharedName(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(sharedNames, name) || strings.HasSuffix(name, ".off")
}

// MayBeHome reports whether the content of a directory allows it to be a home: the directory is empty, or contains a
// name that isSharedName does not accept. A directory that exists but cannot be read may be a home.
func MayBeHome(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0 ||
		slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !isSharedName(e.Name()) })
}

// homeFacts are the facts that decide whether a home belongs to the user.
type homeFacts struct {
	home, store string
	path        string // path of the home without symbolic links
	link        string // path of the link to the home, or "" if no link leads to it
	id          sysinfo.FileID
	fingerprint string // result of [Fingerprint]
	// names of files in the home, without those that a team is meant to share in a repository (see isSharedName)
	unsharedNames []string
	// Earliest time at which a file in the home changed. If a symbolic link leads to the home, it is the time of the
	// link. The time proves that the home existed then.
	oldestChange time.Time
	// names in unsharedNames that git tracks, so that they may come from a cloned repository ("." is the home itself)
	trackedNames []string
	trackedErr   error // error because of which trackedNames is not known
}

// isTrackedName reports whether git tracks the name.
func (f *homeFacts) isTrackedName(name string) bool { return slices.Contains(f.trackedNames, name) }

// examineHome collects the facts about a home. store is the path of its store file, or the home itself.
func examineHome(home, store string) (homeFacts, error) {
	f := homeFacts{home: home, store: store, path: realPath(home), id: sysinfo.ReadFileID(home)}
	fi, err := os.Lstat(home)
	if err != nil {
		return f, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		f.link, f.oldestChange = filepath.Join(realPath(filepath.Dir(home)), filepath.Base(home)),
			sysinfo.LastChangeTime(fi)
	}
	f.fingerprint, err = Fingerprint(home, store)
	if err != nil {
		// Ignore the error, because opening the memory reports the same error to the user.
		f.fingerprint = layoutFingerprint
	}
	// If store and home are equal, the home is a single file, which is the memory.
	if err := f.readUnsharedNames(); err != nil && store != home {
		return f, err
	}
	f.readTrackedNames()
	return f, nil
}

// readUnsharedNames lists the files in the home and their earliest change time. It sets unsharedNames and
// oldestChange.
func (f *homeFacts) readUnsharedNames() error {
	entries, err := os.ReadDir(f.home)
	for _, e := range entries {
		fi, err := e.Info()
		if isSharedName(e.Name()) || err != nil {
			continue
		}
		f.unsharedNames = append(f.unsharedNames, e.Name())
		// If a symbolic link leads to the home, oldestChange is the time of the link, and the files do not matter.
		if f.link == "" {
			f.updateOldestChange(sysinfo.LastChangeTime(fi))
		}
	}
	return err
}

// updateOldestChange sets oldestChange to t if t is earlier.
func (f *homeFacts) updateOldestChange(t time.Time) {
	if f.oldestChange.IsZero() || t.Before(f.oldestChange) {
		f.oldestChange = t
	}
}

// readTrackedNames sets trackedNames. It asks git about the path of the home with and without symbolic links.
func (f *homeFacts) readTrackedNames() {
	for _, path := range slices.Compact([]string{f.home, f.path}) {
		names, err := git.IndexNames(path)
		if err != nil && f.trackedErr == nil {
			f.trackedErr = err
		}
		for _, n := range names {
			if top, _, _ := strings.Cut(n, "/"); !isSharedName(top) {
				f.trackedNames = append(f.trackedNames, n)
			}
		}
	}
}
