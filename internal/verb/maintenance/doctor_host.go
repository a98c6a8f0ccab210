// This file checks the surroundings of a memory for doctor: the environment, the file system and
// the lock.

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

// environment reports how the home was found, and checks whether programs that start oxbow by name
// will find this home.
func (d *diagnosis) environment() {
	d.add(fine, "home", "", "%s, chosen by %s", d.place.Home, d.place.Rule)
	if v := d.w.Host.Getenv("OXBOW_HOME"); v != "" && !filepath.IsAbs(v) {
		d.add(warning, "environment", "set OXBOW_HOME to a path from the root",
			"OXBOW_HOME %q is relative: another home in each working directory", v)
	}
	if _, err := d.w.Host.NetworkAllowed(); err != nil {
		d.findError("environment", err)
	}
	name := "oxbow"
	if d.w.Host.GOOS == "windows" {
		name += ".exe"
	}
	this := d.w.Host.Executable
	for _, dir := range filepath.SplitList(d.w.Host.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		fi, err := os.Stat(path)
		if err != nil || !d.isProgram(fi) {
			continue
		}
		if own, err := os.Stat(this); err == nil && !os.SameFile(own, fi) {
			d.add(warning, "environment", "remove one of them, or put the directory of the right one first in PATH",
				"PATH leads to another oxbow, %s; this one is %s", path, this)
			return
		}
		d.add(fine, "environment", "", "PATH leads to this oxbow, %s", path)
		return
	}
	d.add(
		warning,
		"environment",
		"put its directory in PATH, or give agents its full path",
		"no directory in PATH has oxbow: agents that start it by its name will not find it",
	)
}

// isProgram reports whether the shell would run a file. On Windows, the name of the file decides.
func (d *diagnosis) isProgram(fi fs.FileInfo) bool {
	if !fi.Mode().IsRegular() {
		return false
	}
	return d.w.Host.GOOS == "windows" || fi.Mode().Perm()&0o111 != 0
}

// trust checks whether the home counts as the user's own, and returns the answer.
func (d *diagnosis) trust() bool {
	v := ownership.Judge(d.w.Host, d.place)
	switch v.State {
	case trust.Refused:
		d.add(problem, "trust", v.Mend, "the home is not used: %s", v.Why)
	case trust.Foreign:
		d.add(warning, "trust", v.Mend, "%s, and it is not trusted: its entries are foreign, nothing is written", v.Why)
	case trust.Trusted:
		d.add(fine, "trust", "", "%s, and you trust it", v.Why)
	default:
		d.add(fine, "trust", "", "the home is your own")
	}
	d.addUnusedDocuments()
	d.checkTracked()
	return v.State == trust.Own || v.State == trust.Trusted
}

// addUnusedDocuments reports the documents of the home that are not used.
func (d *diagnosis) addUnusedDocuments() {
	entries, err := os.ReadDir(d.place.Home)
	hasDocuments := d.place.Found && d.place.HasOwnLayout()
	if err != nil || !hasDocuments {
		return
	}
	for _, e := range entries {
		if !strings.HasSuffix(strings.ToLower(e.Name()), ".md") {
			continue
		}
		if why := d.w.Host.Trusted.WithholdDocument(d.place.Home, e.Name()); why != "" {
			d.add(
				warning,
				"trust",
				"read it; to let it count as it is now: oxbow trust",
				"%s is not used: git tracks it, and it is not as you trusted it",
				filepath.Join(d.place.Home, e.Name()),
			)
		}
	}
}

// checkTracked checks which files of the home git tracks, or would track after "git add".
func (d *diagnosis) checkTracked() {
	if !git.InTree(d.place.Home) {
		return
	}
	const about = "git"
	names, err := git.IndexNames(d.place.Home)
	if err != nil {
		d.add(unknown, about, "", "%v", err)
		return
	}
	for _, n := range names {
		if strings.HasPrefix(n, "memory.oxbow") || n == "token" {
			path := filepath.Join(d.place.Home, n)
			d.add(warning, about, "git rm --cached "+
				text.ShellQuote(path), "git tracks %s: who gets the repository gets it", path)
		}
	}
	if missing := missingIgnores(d.place.Home); len(missing) > 0 && d.place.HasOwnLayout() {
		d.add(warning, about, "add "+strings.Join(missing, " and ")+" to "+
			text.ShellQuote(filepath.Join(d.place.Home, ".gitignore"))+", unless another one leaves the home out",
			"git add would take what is not for others")
	}
}

func (d *diagnosis) version() {
	v := d.w.Host.Version
	d.add(fine, "version", "", "oxbow %s, file format %d, %s", v.Version, v.Format, v.Platform)
}

// layout reports the layout of the home.
func (d *diagnosis) layout() {
	_, err := os.Stat(d.place.Store)
	d.closed = errors.Is(err, fs.ErrPermission)
	switch {
	case d.closed:
		d.add(unknown, "layout", "", "the home may not be opened")
	case d.place.HasOwnLayout():
		d.add(fine, "layout", "", "oxbow's own: one file, %s", filepath.Base(d.place.Store))
	default:
		d.add(fine, "layout", "", "%s", d.place.Title)
	}
}

// fileSystem checks the kind of the file system and its free space.
func (d *diagnosis) fileSystem() {
	const about = "file system"
	f, err := d.w.Host.FileSystem(d.dir)
	if err != nil {
		d.add(unknown, about, "", "it cannot be looked at: %v", err)
		return
	}
	name := f.Name
	if name == "" {
		name = f.Kind.String()
	}
	const away = "put the home on a local disk and set OXBOW_HOME to it"
	switch f.Kind {
	case sysinfo.Unknown:
		d.add(unknown, about, "", "its kind is not known here%s; a memory wants a local disk", inBrackets(f.Name))
	case sysinfo.Network:
		// A wrong value of OXBOW_NETWORK_FS is reported separately.
		if allowed, err := d.w.Host.NetworkAllowed(); allowed && err == nil {
			d.add(warning, about, away, "%s is on the network, and writing to it is allowed: one host at a time", name)
		} else {
			d.add(
				problem,
				about,
				away+", or give --network-fs when only this host writes",
				"%s is on the network: one host at a time, since locks may not reach others",
				name,
			)
		}
	case sysinfo.Shared:
		d.add(
			warning,
			about,
			away+" where others write to it as well",
			"%s is handed in by another system or program: one host at a time, since locks may not reach others",
			name,
		)
	case sysinfo.Volatile:
		d.add(warning, about, away, "%s is in memory: gone at the next boot", name)
	case sysinfo.Layered:
		d.add(
			warning,
			about,
			"in a container, mount a volume for the home",
			"%s: in a container, gone with the container",
			name,
		)
	default:
		d.add(fine, about, "", "%s, on this machine", name)
	}
	if f.ReadOnly {
		d.add(
			problem,
			about,
			"mount it for writing, or choose another home",
			"it is mounted read-only: nothing can be remembered",
		)
	}
	free := text.FormatBytes(int64(min(f.Free, 1<<62)))
	switch {
	case f.Total == 0:
		d.add(unknown, "space", "", "not known here")
	case f.Free < noSpace:
		d.add(
			problem,
			"space",
			"free some space: nothing more can be remembered soon; forget still works",
			"%s free",
			free,
		)
	case f.Free < shortSpace:
		d.add(warning, "space", "free some space", "%s free", free)
	default:
		d.add(fine, "space", "", "%s free", free)
	}
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// checkPermissions checks who may read the home, and whether this process may write to it.
func (d *diagnosis) checkPermissions() {
	const about = "permissions"
	before := len(d.findings)
	type place struct {
		path, chmod string
		dir         bool
	}
	places := []place{{d.dir, "chmod 700 ", true}}
	if d.place.Store == d.dir {
		_, err := os.Stat(d.dir)
		d.exists = err == nil
	} else {
		places = append(places, place{d.place.Store, "chmod 600 ", false})
	}
	for _, p := range places {
		fi, err := os.Stat(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			_, err := os.Lstat(p.path) // a link to nothing is in the way of a new store
			d.exists = d.exists || (err == nil && !p.dir)
			continue
		case err != nil:
			d.findError(about, err)
			continue
		case fi.IsDir() != p.dir:
			what := "is a directory, not a store"
			if p.dir {
				what = "is not a directory"
			}
			d.add(problem, about, "move it away, or choose another home with --home DIR", "%s %s", p.path, what)
			continue
		}
		d.exists = d.exists || !p.dir
		if mode := fi.Mode().Perm(); d.w.Host.GOOS != "windows" && mode&0o077 != 0 {
			d.add(warning, about, p.chmod+text.ShellQuote(p.path), "others may use %s (mode %04o)", p.path, mode)
		}
		if !sysinfo.IsWritable(p.path) {
			d.add(
				problem,
				about,
				"change its owner or mode",
				"%s may not be written by this user: nothing can be remembered",
				p.path,
			)
		}
	}
	switch {
	case len(d.findings) > before:
	case d.w.Host.GOOS == "windows":
		d.add(unknown, about, "", "the access lists of Windows are not looked at")
	default:
		d.add(fine, about, "", "only this user may use it")
	}
}

// lock checks which process is writing.
func (d *diagnosis) lock() {
	const about = "lock"
	name := filepath.Base(d.place.Store)
	dir, err := vfs.Dir(d.dir)
	if err != nil {
		d.add(fine, about, "", "free: there is no home yet")
		return
	}
	defer dir.Close()
	if _, err := dir.Stat(wal.LockName(name)); err != nil {
		d.add(fine, about, "", "free: nobody has written yet")
		return
	}
	l, err := dir.OpenLock(wal.LockName(name))
	if err != nil {
		d.add(unknown, about, "", "it cannot be looked at: %v", err)
		return
	}
	defer l.Close()
	// Hold the lock only for a moment. Another writer waits for it for seconds.
	got, err := l.TryLock()
	if err != nil {
		d.add(unknown, about, "", "it cannot be looked at: %v", err)
		return
	}
	n, noted := wal.ReadLockMeta(dir, name)
	if got {
		if noted {
			d.add(fine, about, "", "free; %s had it last, %s", n.Program, d.w.Date(n.Since))
		} else {
			d.add(fine, about, "", "free")
		}
		return
	}
	if !noted || n.PID == 0 {
		d.add(warning, about, "", "held by a process that is not known")
		return
	}
	since := d.w.Date(n.Since)
	h := d.w.Say(verb.Remedy(&oxbow.BusyError{PID: n.PID, Stopped: sysinfo.ProcessState(n.PID) == sysinfo.Stopped}))
	switch sysinfo.ProcessState(n.PID) {
	case sysinfo.Stopped:
		d.add(
			problem,
			about,
			h,
			"held by %s (pid %d) since %s, which is stopped: nobody else can write",
			n.Program,
			n.PID,
			since,
		)
	case sysinfo.Gone:
		d.add(
			warning,
			about,
			"look for it there",
			"held by %s (pid %d) since %s, in another container or on another host",
			n.Program,
			n.PID,
			since,
		)
	default:
		if d.w.Time().Sub(n.Since) > longHeld {
			d.add(
				warning,
				about,
				h,
				"held by %s (pid %d) since %s: it hangs, or rewrites the file",
				n.Program,
				n.PID,
				since,
			)
			return
		}
		d.add(fine, about, "", "held by %s (pid %d), which is writing", n.Program, n.PID)
	}
}
