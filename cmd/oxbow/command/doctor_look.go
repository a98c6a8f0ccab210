// This file holds what doctor looks at.

package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Where space is short, in bytes; and from which size on a file that is mostly
// history is worth a word.
const (
	noSpace     = 1 << 20
	shortSpace  = 100 << 20
	muchHistory = 16 << 20

	// An index file with fewer bytes counts recalls.
	smallestIndex = 128
)

// A writer has the lock for some milliseconds. One that has it longer than this
// hangs, or rewrites a large store.
const longHeld = time.Minute

// Clocks of hosts that use a store in turn differ by a little.
const clockSlack = time.Minute

// environment looks at how the home was found and whether programs that start
// oxbow by its name will find this one.
func (d *diagnosis) environment() {
	home, rule, err := d.a.findHome()
	if err != nil {
		d.findError("home", err)
		return
	}
	d.add(fine, "home", "", "%s, chosen by %s", home, rule)
	if v := d.a.env.Getenv("OXBOW_HOME"); v != "" && !filepath.IsAbs(v) {
		d.add(warning, "environment", "set OXBOW_HOME to a path from the root",
			"OXBOW_HOME %q is relative: another home in each working directory", v)
	}
	if _, err := d.a.networkAllowed(); err != nil {
		d.findError("environment", err)
	}
	name := "oxbow"
	if d.a.env.GOOS == "windows" {
		name += ".exe"
	}
	this := d.a.env.Executable
	for _, dir := range filepath.SplitList(d.a.env.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		fi, err := os.Stat(path)
		if err != nil || !fi.Mode().IsRegular() || d.a.env.GOOS != "windows" && fi.Mode().Perm()&0o111 == 0 {
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
	d.add(warning, "environment", "put its directory in PATH, or give agents its full path", "no directory in PATH has oxbow: agents that start it by its name will not find it")
}

func (d *diagnosis) version() {
	v := readVersion()
	d.add(fine, "version", "", "oxbow %s, file format %d, %s", v.Version, v.Format, v.Platform)
}

// layout says whose layout the home has.
func (d *diagnosis) layout() error {
	of, other, err := d.a.layout()
	if err != nil {
		return err
	}
	if !other {
		d.add(fine, "layout", "", "oxbow's own: one file, %s", filepath.Base(d.store))
		return nil
	}
	d.add(fine, "layout", "", "%s", of.Title)
	return nil
}

// fileSystem looks at the kind of the file system and the space in it.
func (d *diagnosis) fileSystem() {
	const about = "file system"
	f, err := d.a.env.FileSystem(d.dir)
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
		// A wrong OXBOW_NETWORK_FS is a finding of its own.
		if allowed, err := d.a.networkAllowed(); allowed && err == nil {
			d.add(warning, about, away, "%s is on the network, and writing to it is allowed: one host at a time", name)
		} else {
			d.add(problem, about, away+", or give --network-fs when only this host writes", "%s is on the network: one host at a time, since locks may not reach others", name)
		}
	case sysinfo.Shared:
		d.add(warning, about, away+" where others write to it as well", "%s is handed in by another system or program: one host at a time, since locks may not reach others", name)
	case sysinfo.Volatile:
		d.add(warning, about, away, "%s is in memory: gone at the next boot", name)
	case sysinfo.Layered:
		d.add(warning, about, "in a container, mount a volume for the home", "%s: in a container, gone with the container", name)
	default:
		d.add(fine, about, "", "%s, on this machine", name)
	}
	if f.ReadOnly {
		d.add(problem, about, "mount it for writing, or choose another home", "it is mounted read-only: nothing can be remembered")
	}
	free := bytesText(int64(min(f.Free, 1<<62)))
	switch {
	case f.Total == 0:
		d.add(unknown, "space", "", "not known here")
	case f.Free < noSpace:
		d.add(problem, "space", "free some space: nothing more can be remembered soon; forget still works", "%s free", free)
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

// permissions looks at who may read the home, and whether we may write it.
func (d *diagnosis) permissions() {
	const about = "permissions"
	before := len(d.findings)
	type place struct {
		path, chmod string
		dir         bool
	}
	places := []place{{d.dir, "chmod 700 ", true}}
	if d.store == d.dir {
		_, err := os.Stat(d.dir)
		d.exists = err == nil
	} else {
		places = append(places, place{d.store, "chmod 600 ", false})
	}
	for _, p := range places {
		fi, err := os.Stat(p.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
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
		if mode := fi.Mode().Perm(); d.a.env.GOOS != "windows" && mode&0o077 != 0 {
			d.add(warning, about, p.chmod+quote(p.path), "others may use %s (mode %04o)", p.path, mode)
		}
		if !sysinfo.Writable(p.path) {
			d.add(problem, about, "change its owner or mode", "%s may not be written by this user: nothing can be remembered", p.path)
		}
	}
	switch {
	case len(d.findings) > before:
	case d.a.env.GOOS == "windows":
		d.add(unknown, about, "", "the access lists of Windows are not looked at")
	default:
		d.add(fine, about, "", "only this user may use it")
	}
}

// lock looks at who is writing.
func (d *diagnosis) lock() {
	const about = "lock"
	name := filepath.Base(d.store)
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
	// Taken for a moment only: another writer waits seconds for it.
	got, err := l.TryLock()
	if err != nil {
		d.add(unknown, about, "", "it cannot be looked at: %v", err)
		return
	}
	n, noted := wal.ReadNoted(dir, name)
	if got {
		if noted {
			d.add(fine, about, "", "free; %s had it last, %s", n.Program, d.a.date(n.Since))
		} else {
			d.add(fine, about, "", "free")
		}
		return
	}
	d.held = true
	if !noted || n.PID == 0 {
		d.add(warning, about, "", "held by a process that is not known")
		return
	}
	since := d.a.date(n.Since)
	h := tellHolder(n.PID)
	switch sysinfo.Process(n.PID) {
	case sysinfo.Stopped:
		d.add(problem, about, h, "held by %s (pid %d) since %s, which is stopped: nobody else can write", n.Program, n.PID, since)
	case sysinfo.Gone:
		d.add(warning, about, "look for it there", "held by %s (pid %d) since %s, in another container or on another host", n.Program, n.PID, since)
	default:
		if d.a.env.Now().Sub(n.Since) > longHeld {
			d.add(warning, about, h, "held by %s (pid %d) since %s: it hangs, or rewrites the file", n.Program, n.PID, since)
			return
		}
		d.add(fine, about, "", "held by %s (pid %d), which is writing", n.Program, n.PID)
	}
}

// leftovers looks at the files beside the store.
func (d *diagnosis) leftovers() error {
	const about = "leftovers"
	left, err := leftovers(d.store)
	if err != nil {
		d.add(unknown, about, "", "they cannot be looked at: %v", err)
		return nil
	}
	if len(left) == 0 {
		d.add(fine, about, "", "none")
	}
	for _, l := range left {
		remove := "rm " + quote(l.path)
		what, mend := "", ""
		switch l.kind {
		case leftTemp:
			what, mend = "a rewrite was interrupted and left %s, %s, which nothing needs", "when no other oxbow is running: "+remove
		case leftTorn:
			what, mend = "an interrupted write left %s, %s; nothing acknowledged is in it", remove
		case leftDamaged:
			what, mend = "the store before oxbow recover --replace is %s, %s", "once you miss nothing: "+remove
		case leftRecovered:
			what, mend = "oxbow recover left %s, %s", "look with oxbow --home "+quote(l.path)+" list; when you do not need it: "+remove
		case leftUnsaved:
			what, mend = "oxbow edit could not save %s, %s", "take what you need from it, then "+remove
		}
		d.add(warning, about, mend, what, l.path, bytesText(l.size))
	}
	if !d.exists {
		for _, l := range left {
			if l.kind == leftDamaged || l.kind == leftRecovered {
				d.add(problem, "store", "mv "+quote(l.path)+" "+quote(d.store), "%s is missing, and a recovery was under way here", d.store)
				break
			}
		}
	}
	return nil
}

// memory looks into the store: whether it opens, is the newest, and is of use.
func (d *diagnosis) memory(ctx context.Context, full bool) error {
	if !d.exists {
		d.add(fine, "store", "", "there is none yet; the first remember makes it")
		return nil
	}
	found := len(d.findings)
	err := d.a.with(ctx, look, d.open)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.findings = d.findings[:found]
		d.findError("integrity", err)
		return nil
	}
	if !full {
		d.add(fine, "integrity", "", "it opens, and every change was read; oxbow doctor --full also compares what it answers")
		return nil
	}
	out, err := d.a.examine(ctx)
	if err != nil {
		return err
	}
	for _, p := range out.Problems {
		d.add(problem, "integrity", p.Mend, "%s", p.What)
	}
	switch {
	case out.OK && out.Head != "":
		d.add(fine, "integrity", "", "sound; head %s", out.Head)
	case out.OK:
		d.add(fine, "integrity", "", "sound")
	}
	return nil
}

// open looks into a store that opens.
func (d *diagnosis) open(ctx context.Context, m *oxbow.Memory) error {
	s, err := statsOf(ctx, m)
	if err != nil {
		return err
	}
	if !d.own {
		d.add(fine, "size", "", "%s, %s", bytesText(s.Bytes), count(s.Entries, "entry", "entries"))
		return nil
	}
	had, err := durableOf(d.store, d.store)
	if err != nil {
		return err
	}
	if had > s.Last {
		d.add(problem, "history", hint(oxbow.ErrRolledBack), "it went back: it ends at change %d, and change %d had been written", s.Last, had)
	}
	if dir, err := vfs.Dir(d.dir); err == nil {
		if n, ok := wal.ReadNoted(dir, filepath.Base(d.store)); ok && n.Unsynced {
			d.add(warning, "history", "look after the disk; the next change writes the file anew", "a sync of the file failed, and what was written last may not be durable")
		}
		_ = dir.Close()
	}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return err
		}
		if ahead := c.Time.Sub(d.a.env.Now()); ahead > clockSlack {
			d.add(warning, "clock", "set the clock of this machine", "the last change is dated %s, in the future: this clock is behind, or another was ahead",
				c.Time.In(d.a.env.Now().Location()).Format(time.DateTime))
		} else {
			d.add(fine, "clock", "", "the last change is of %s", d.a.date(c.Time))
		}
		break
	}
	var content int64
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		content += int64(len(e.Content) + len(e.Name))
	}
	mend := ""
	if s.Used > muchHistory && s.Used > 4*content {
		mend = "most of it is history; oxbow compact --dry-run says what a compaction would drop"
	}
	changes := "no change yet"
	if s.Last > 0 {
		changes = count(int(s.Last+1-s.First), "change", "changes")
	}
	if fi, err := os.Stat(d.store + oxbow.IndexSuffix); err == nil {
		if name := filepath.Base(d.store) + oxbow.IndexSuffix; fi.Size() < smallestIndex {
			d.add(fine, "index", "", "none yet; %s counts the recalls that did without, and one of the next makes it; it may be deleted", name)
		} else {
			d.add(fine, "index", "", "%s in %s, so that the first recall need not make it; it may be deleted", bytesText(fi.Size()), name)
		}
	}
	d.add(fine, "size", mend, "%s of %s, %s and %s", bytesText(s.Used), bytesText(s.Bytes), count(s.Entries, "entry", "entries"), changes)
	return nil
}

// tellHolder says how to end the wait for a process.
func tellHolder(pid int) string {
	return hint(&oxbow.BusyError{PID: pid, Stopped: sysinfo.Process(pid) == sysinfo.Stopped})
}
