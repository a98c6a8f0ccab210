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

// DirName is the name of a project's home, which is the directory with the project's memory. The directory also
// contains annotations, team files, profiles and skills of the project.
const DirName = ".oxbow"

// teamSharedNames lists the names in a home's directory that people commit on purpose, and the names of files that
// desktop environments create in any directory. A directory that contains only such names is not a home.
var teamSharedNames = []string{"annotations", "team", "profiles", "memory-profiles", "skills", ".gitignore",
	".gitattributes",
	".ds_store", "desktop.ini", "thumbs.db"}

// isTeamSharedName reports whether a directory that is not a home may also contain a file with this name. Such a file
// does not prove that the directory is a home. The names in teamSharedNames are of this kind, for example the directory
// of team files, which people commit on purpose. So are names with the extension .off, because such a file only
// switches off hooks. Letter case is ignored, as on most file systems of macOS and Windows.
func isTeamSharedName(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(teamSharedNames, name) || strings.HasSuffix(name, ".off")
}

// MayDirBeHome reports whether a directory may be an oxbow home, judged by the names of the files in it. An empty
// directory may be a home. A directory that contains only names that people share, such as the names of team files, is
// not a home (see isTeamSharedName). A directory that exists but is unreadable may be a home. A missing directory is
// not a home.
func MayDirBeHome(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(entries) == 0 ||
		slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !isTeamSharedName(e.Name()) })
}

// homeOwnershipFacts are the facts that decide whether a home belongs to the user.
type homeOwnershipFacts struct {
	home, store      string
	resolvedHomePath string // path of the home without symbolic links
	linkToHomePath   string // path of the link to the home, or "" if no link leads to it
	id               sysinfo.FileID
	homeFingerprint  string // value that identifies the home's memory, made by [Fingerprint] ("" without a memory)
	// names of files in the home, without those that a team is meant to share in a repository (see isTeamSharedName)
	namesProvingHome []string
	// Earliest time at which a file in the home changed. If a symbolic link leads to the home, it is the time of the
	// link. The time proves that the home existed then.
	oldestFileChangeTime time.Time
	// names in namesProvingHome that git tracks. A tracked file does not prove that the home belongs to the user,
	// because it may come from a cloned repository. The name "." means the directory of the home itself.
	gitTrackedNames []string
	gitTrackedErr   error // error because of which gitTrackedNames is not known
}

// isGitTrackedName reports whether git tracks the name.
func (f *homeOwnershipFacts) isGitTrackedName(name string) bool {
	return slices.Contains(f.gitTrackedNames, name)
}

// collectHomeFacts collects the facts about a home. storePath is the path of its store file, or the home itself.
func collectHomeFacts(home, storePath string) (homeOwnershipFacts, error) {
	f := homeOwnershipFacts{
		home:             home,
		store:            storePath,
		resolvedHomePath: realPath(home),
		id:               sysinfo.ReadFileID(home),
	}
	fi, err := os.Lstat(home)
	if err != nil {
		return f, err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		f.linkToHomePath, f.oldestFileChangeTime = filepath.Join(realPath(filepath.Dir(home)), filepath.Base(home)),
			sysinfo.LastChangeTime(fi)
	}
	f.homeFingerprint, err = Fingerprint(home, storePath)
	if err != nil {
		// Ignore the error, because opening the memory reports the same error to the user.
		f.homeFingerprint = otherLayoutFingerprint
	}
	// If storePath and home are equal, the home is a single file, which is the memory.
	if err := f.readUnsharedNames(); err != nil && storePath != home {
		return f, err
	}
	f.readGitTrackedNames()
	return f, nil
}

// readUnsharedNames reads the home's directory. It adds the names of its files to namesProvingHome, except for the
// names that isTeamSharedName accepts. If no symbolic link leads to the home, it sets oldestFileChangeTime to the
// earliest change time of these files.
func (f *homeOwnershipFacts) readUnsharedNames() error {
	entries, err := os.ReadDir(f.home)
	for _, e := range entries {
		fi, err := e.Info()
		if isTeamSharedName(e.Name()) || err != nil {
			continue
		}
		f.namesProvingHome = append(f.namesProvingHome, e.Name())
		// If a symbolic link leads to the home, oldestFileChangeTime is the time of the link, and the files do not
		// matter.
		if f.linkToHomePath == "" {
			f.updateOldestChange(sysinfo.LastChangeTime(fi))
		}
	}
	return err
}

// updateOldestChange sets oldestFileChangeTime to t if t is earlier or if oldestFileChangeTime is zero.
func (f *homeOwnershipFacts) updateOldestChange(t time.Time) {
	if f.oldestFileChangeTime.IsZero() || t.Before(f.oldestFileChangeTime) {
		f.oldestFileChangeTime = t
	}
}

// readGitTrackedNames stores in gitTrackedNames the names of the files in the home that git tracks. It leaves out team
// files and other names that people share on purpose. It asks git about the path of the home with and without symbolic
// links, and stores the first error in gitTrackedErr.
func (f *homeOwnershipFacts) readGitTrackedNames() {
	for _, path := range slices.Compact([]string{f.home, f.resolvedHomePath}) {
		names, err := git.ListTrackedFiles(path)
		if err != nil && f.gitTrackedErr == nil {
			f.gitTrackedErr = err
		}
		for _, n := range names {
			if top, _, _ := strings.Cut(n, "/"); !isTeamSharedName(top) {
				f.gitTrackedNames = append(f.gitTrackedNames, n)
			}
		}
	}
}
