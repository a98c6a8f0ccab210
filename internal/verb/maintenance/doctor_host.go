// This file checks the surroundings of a memory for the verb doctor: the environment, the file system and the lock.

package maintenance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/vfs"
)

// checkEnvironment adds a finding that says how the home was found. It adds findings about environment variables of
// oxbow that have a wrong value. It also checks whether the first oxbow program in the directories of PATH is this
// program, because agents start oxbow by its name.
func (d *diagnosis) checkEnvironment() {
	d.addFinding(findingLevelOK, "home", "", "%s, chosen by %s", d.memoryPlace.Home, d.memoryPlace.HomeChoiceReason)
	if v := d.workspace.Host.Getenv("OXBOW_HOME"); v != "" && !filepath.IsAbs(v) {
		d.addFinding(findingLevelWarning, "environment", "set OXBOW_HOME to a path from the root",
			"OXBOW_HOME %q is relative: another home in each working directory", v)
	}
	if _, err := d.workspace.Host.IsNetworkFSAllowed(); err != nil {
		d.addErrorFinding("environment", err)
	}
	name := "oxbow"
	if d.workspace.Host.GOOS == "windows" {
		name += ".exe"
	}
	this := d.workspace.Host.Executable
	for _, dir := range filepath.SplitList(d.workspace.Host.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		fi, err := os.Stat(path)
		if err != nil || !d.isExecutable(fi) {
			continue
		}
		if own, err := os.Stat(this); err == nil && !os.SameFile(own, fi) {
			d.addFinding(
				findingLevelWarning,
				"environment",
				"remove one of them, or put the directory of the right one first in PATH",
				"PATH leads to another oxbow, %s; this one is %s",
				path,
				this,
			)
			return
		}
		d.addFinding(findingLevelOK, "environment", "", "PATH leads to this oxbow, %s", path)
		return
	}
	d.addFinding(
		findingLevelWarning,
		"environment",
		"put its directory in PATH, or give agents its full path",
		"no directory in PATH has oxbow: agents that start it by its name will not find it",
	)
}

// isExecutable reports whether the operating system can run a file. On Windows, every regular file counts as
// executable, because the caller only passes files whose name ends in .exe. On other systems, the file's mode must
// contain an execute permission.
func (d *diagnosis) isExecutable(fi fs.FileInfo) bool {
	if !fi.Mode().IsRegular() {
		return false
	}
	return d.workspace.Host.GOOS == "windows" || fi.Mode().Perm()&0o111 != 0
}

// checkHomeTrust adds a finding that says whether the home belongs to the user or is trusted. It also adds findings
// about the home's documents and the files that git tracks. It returns true if the home belongs to the user or is
// trusted.
func (d *diagnosis) checkHomeTrust() bool {
	v := ownership.JudgeHomeTrust(d.workspace.Host, d.memoryPlace)
	switch v.Ownership {
	case trust.Refused:
		d.addFinding(findingLevelProblem, "trust", v.Mend, "the home is not used: %s", v.Reason)
	case trust.ForeignHome:
		d.addFinding(
			findingLevelWarning,
			"trust",
			v.Mend,
			"%s, and it is not trusted: its entries are foreign, nothing is written",
			v.Reason,
		)
	case trust.TrustedHome:
		d.addFinding(findingLevelOK, "trust", "", "%s, and you trust it", v.Reason)
	default:
		d.addFinding(findingLevelOK, "trust", "", "the home is your own")
	}
	d.addUnusedDocuments()
	d.checkGitFiles()
	return v.Ownership == trust.OwnHome || v.Ownership == trust.TrustedHome
}

// addUnusedDocuments adds a finding about the documents of the home that are withheld, because they changed since the
// user trusted the documents.
func (d *diagnosis) addUnusedDocuments() {
	entries, err := os.ReadDir(d.memoryPlace.Home)
	hasDocuments := d.memoryPlace.FoundFromWorkingDir && d.memoryPlace.HasOwnLayout()
	if err != nil || !hasDocuments {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(strings.ToLower(e.Name()), ".md") {
			continue
		}
		if why := d.workspace.Host.TrustList.DocumentRefusalReason(d.memoryPlace.Home, e.Name()); why != "" {
			d.addFinding(
				findingLevelWarning,
				"trust",
				"read it; to let it count as it is now: oxbow trust",
				"%s is not used: git tracks it, and it is not as you trusted it",
				filepath.Join(d.memoryPlace.Home, e.Name()),
			)
		}
	}
}

// checkGitFiles adds a finding for each file in the home that git tracks although it must not be shared. Such a file is
// named "token", or its name begins with "memory.oxbow". If the home has oxbow's own layout, checkGitFiles also adds a
// finding if .gitignore lacks lines, so that git add would add private files.
func (d *diagnosis) checkGitFiles() {
	if !git.IsInWorktree(d.memoryPlace.Home) {
		return
	}
	const about = "git"
	names, err := git.ListTrackedFiles(d.memoryPlace.Home)
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "%v", err)
		return
	}
	for _, n := range names {
		if strings.HasPrefix(n, "memory.oxbow") || n == "token" {
			path := filepath.Join(d.memoryPlace.Home, n)
			d.addFinding(findingLevelWarning, about, "git rm --cached "+
				text.ShellQuote(path), "git tracks %s: who gets the repository gets it", path)
		}
	}
	if missing := missingIgnoreLines(d.memoryPlace.Home); len(missing) > 0 && d.memoryPlace.HasOwnLayout() {
		d.addFinding(findingLevelWarning, about, "add "+strings.Join(missing, " and ")+" to "+
			text.ShellQuote(filepath.Join(d.memoryPlace.Home, ".gitignore"))+", unless another one leaves the home out",
			"git add would take what is not for others")
	}
}

func (d *diagnosis) addOxbowVersionFinding() {
	v := d.workspace.Host.Version
	d.addFinding(findingLevelOK, "version", "", "oxbow %s, file format %d, %s", v.Version, v.FileFormat, v.Platform)
}

// addLayoutFinding adds a finding that names the layout of the home. If the home may not be opened, it adds a finding
// that says so, and sets d.isDirForbidden.
func (d *diagnosis) addLayoutFinding() {
	_, err := os.Stat(d.memoryPlace.StorePath)
	d.isDirForbidden = errors.Is(err, fs.ErrPermission)
	switch {
	case d.isDirForbidden:
		d.addFinding(findingLevelUncheckable, "layout", "", "the home may not be opened")
	case d.memoryPlace.HasOwnLayout():
		d.addFinding(findingLevelOK, "layout", "", "oxbow's own: one file, %s", filepath.Base(d.memoryPlace.StorePath))
	default:
		d.addFinding(findingLevelOK, "layout", "", "%s", d.memoryPlace.LayoutTitle)
	}
}

// checkFileSystem checks the type of the file system and the free space on it.
func (d *diagnosis) checkFileSystem() {
	const about = "file system"
	f, err := d.workspace.Host.FileSystem(d.storeDir)
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "it cannot be looked at: %v", err)
		return
	}
	name := f.Name
	if name == "" {
		name = f.Kind.String()
	}
	const away = "put the home on a local disk and set OXBOW_HOME to it"
	switch f.Kind {
	case sysinfo.KindUnknownFileSystem:
		d.addFinding(
			findingLevelUncheckable,
			about,
			"",
			"its kind is not known here%s; a memory wants a local disk",
			wrapInBrackets(f.Name),
		)
	case sysinfo.KindNetworkFileSystem:
		// Ignore an invalid value of OXBOW_NETWORK_FS, because another finding reports it.
		if allowed, err := d.workspace.Host.IsNetworkFSAllowed(); allowed && err == nil {
			d.addFinding(
				findingLevelWarning,
				about,
				away,
				"%s is on the network, and writing to it is allowed: one host at a time",
				name,
			)
		} else {
			d.addFinding(
				findingLevelProblem,
				about,
				away+", or give --network-fs when only this host writes",
				"%s is on the network: one host at a time, since locks may not reach others",
				name,
			)
		}
	case sysinfo.KindSharedFileSystem:
		d.addFinding(
			findingLevelWarning,
			about,
			away+" where others write to it as well",
			"%s is handed in by another system or program: one host at a time, since locks may not reach others",
			name,
		)
	case sysinfo.KindInMemoryFileSystem:
		d.addFinding(findingLevelWarning, about, away, "%s is in memory: gone at the next boot", name)
	case sysinfo.KindOverlayFileSystem:
		d.addFinding(
			findingLevelWarning,
			about,
			"in a container, mount a volume for the home",
			"%s: in a container, gone with the container",
			name,
		)
	default:
		d.addFinding(findingLevelOK, about, "", "%s, on this machine", name)
	}
	if f.IsReadOnly {
		d.addFinding(
			findingLevelProblem,
			about,
			"mount it for writing, or choose another home",
			"it is mounted read-only: nothing can be remembered",
		)
	}
	free := text.FormatBytes(int64(min(f.FreeBytes, 1<<62)))
	switch {
	case f.TotalBytes == 0:
		d.addFinding(findingLevelUncheckable, "space", "", "not known here")
	case f.FreeBytes < minFreeSpaceBytes:
		d.addFinding(
			findingLevelProblem,
			"space",
			"free some space: nothing more can be remembered soon; forget still works",
			"%s free",
			free,
		)
	case f.FreeBytes < lowFreeSpaceBytes:
		d.addFinding(findingLevelWarning, "space", "free some space", "%s free", free)
	default:
		d.addFinding(findingLevelOK, "space", "", "%s free", free)
	}
}

func wrapInBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// checkPermissions checks who can read the home, and whether this process can write to it.
func (d *diagnosis) checkPermissions() {
	const about = "permissions"
	before := len(d.findings)
	type place struct {
		path, chmod string
		dir         bool
	}
	places := []place{{d.storeDir, "chmod 700 ", true}}
	if d.memoryPlace.StorePath == d.storeDir {
		_, err := os.Stat(d.storeDir)
		d.storeExists = err == nil
	} else {
		places = append(places, place{d.memoryPlace.StorePath, "chmod 600 ", false})
	}
	for _, p := range places {
		fi, err := os.Stat(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// The path may be a link to a missing file. Treat the store as existing in this case, so that opening it
			// reports the problem. A new store could not be created at this path.
			_, err := os.Lstat(p.path)
			d.storeExists = d.storeExists || (err == nil && !p.dir)
			continue
		case err != nil:
			d.addErrorFinding(about, err)
			continue
		case fi.IsDir() != p.dir:
			what := "is a directory, not a store"
			if p.dir {
				what = "is not a directory"
			}
			d.addFinding(
				findingLevelProblem,
				about,
				"move it away, or choose another home with --home DIR",
				"%s %s",
				p.path,
				what,
			)
			continue
		}
		d.storeExists = d.storeExists || !p.dir
		if mode := fi.Mode().Perm(); d.workspace.Host.GOOS != "windows" && mode&0o077 != 0 {
			d.addFinding(
				findingLevelWarning,
				about,
				p.chmod+text.ShellQuote(p.path),
				"others may use %s (mode %04o)",
				p.path,
				mode,
			)
		}
		if !sysinfo.IsWritable(p.path) {
			d.addFinding(
				findingLevelProblem,
				about,
				"change its owner or mode",
				"%s may not be written by this user: nothing can be remembered",
				p.path,
			)
		}
	}
	switch {
	case len(d.findings) > before:
	case d.workspace.Host.GOOS == "windows":
		d.addFinding(findingLevelUncheckable, about, "", "the access lists of Windows are not looked at")
	default:
		d.addFinding(findingLevelOK, about, "", "only this user may use it")
	}
}

// checkLock checks which process holds the lock for writing.
func (d *diagnosis) checkLock() {
	const about = "lock"
	name := filepath.Base(d.memoryPlace.StorePath)
	dir, err := vfs.Dir(d.storeDir)
	if err != nil {
		d.addFinding(findingLevelOK, about, "", "free: there is no home yet")
		return
	}
	defer dir.Close()
	if _, err := dir.Stat(wal.LockName(name)); err != nil {
		d.addFinding(findingLevelOK, about, "", "free: nobody has written yet")
		return
	}
	l, err := dir.OpenLock(wal.LockName(name))
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "it cannot be looked at: %v", err)
		return
	}
	defer l.Close()
	// Test whether another process holds the store's lock. The lock is released at once, so that writers need not wait.
	got, err := l.TryLock()
	if err != nil {
		d.addFinding(findingLevelUncheckable, about, "", "it cannot be looked at: %v", err)
		return
	}
	n, noted := wal.ReadLockFileContent(dir, name)
	if got {
		if noted {
			since := d.workspace.FormatDate(n.Since)
			d.addFinding(findingLevelOK, about, "", "free; %s had it last, %s", n.Program, since)
		} else {
			d.addFinding(findingLevelOK, about, "", "free")
		}
		return
	}
	if !noted || n.PID == 0 {
		d.addFinding(findingLevelWarning, about, "", "held by a process that is not known")
		return
	}
	since := d.workspace.FormatDate(n.Since)
	h := d.workspace.NoteText(
		verb.ErrorRemedy(&oxbow.BusyError{PID: n.PID, Stopped: sysinfo.ProcessState(n.PID) == sysinfo.ProcessStopped}),
	)
	switch sysinfo.ProcessState(n.PID) {
	case sysinfo.ProcessStopped:
		d.addFinding(
			findingLevelProblem,
			about,
			h,
			"held by %s (pid %d) since %s, which is stopped: nobody else can write",
			n.Program,
			n.PID,
			since,
		)
	case sysinfo.ProcessGone:
		d.addFinding(
			findingLevelWarning,
			about,
			"look for it there",
			"held by %s (pid %d) since %s, in another container or on another host",
			n.Program,
			n.PID,
			since,
		)
	default:
		if d.workspace.CurrentTime().Sub(n.Since) > maxLockTime {
			d.addFinding(
				findingLevelWarning,
				about,
				h,
				"held by %s (pid %d) since %s: it hangs, or rewrites the file",
				n.Program,
				n.PID,
				since,
			)
			return
		}
		d.addFinding(findingLevelOK, about, "", "held by %s (pid %d), which is writing", n.Program, n.PID)
	}
}
