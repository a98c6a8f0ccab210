// Finds the home: the directory that holds the store.

package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/care/label"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// storeFile is the name of the store inside its home.
const storeFile = "memory.oxbow"

// homeDir is the name of a project's own home.
const homeDir = verb.ProjectDir

// locator finds the home, and what is in it.
type locator struct {
	terminal
	homeFlag    string
	dialectFlag string
	network     bool // writing to a network file system is wanted

	// store opens the store of the home where that is no file; nil where it is one.
	store func(context.Context) (oxbow.Store, error)

	homes  map[string]string // found from a directory, "" for none; each is searched for once a run
	judged *trust.Verdict    // on the home that was found last, nil for none
}

// home returns the directory that holds the store, whether or not it is there
// yet: what --home says, else $OXBOW_HOME, else the nearest directory .oxbow
// at or above the working directory, else the user's data directory. A layout
// whose custom is the user's own directory has that in the place of the last two.
// A home that another user owns, or others may write, is refused unless it was
// named.
func (l *locator) home() (string, error) {
	dir, rule, err := l.findHome()
	if err != nil || rule != foundRule {
		return dir, err
	}
	v, err := l.verdict()
	if err == nil && v.State == trust.Refused {
		err = &hinted{fmt.Errorf("the home %s was found here and is not used: %s", dir, v.Why), v.Mend}
	}
	return dir, err
}

// foundRule chose a home that may have come with a project.
const foundRule = "the nearest " + homeDir + " at or above the working directory"

// linkedRule is what foundRule is called if the home is in the main tree of a worktree.
const linkedRule = "the " + homeDir + " of the main tree of this git worktree"

const dataRule = "your data directory"

// findHome returns the home, and in words the rule that chose it.
func (l *locator) findHome() (dir, rule string, err error) {
	for _, c := range []struct{ dir, rule string }{
		{l.homeFlag, "--home"},
		{l.env.Getenv("OXBOW_HOME"), "$OXBOW_HOME"},
	} {
		if c.dir == "" {
			continue
		}
		dir, err = l.abs(c.dir)
		if err == nil {
			err = canHold(dir)
		}
		return dir, c.rule, err
	}
	if l.inUserHome() {
		return filepath.Clean(l.userHome()), "the user's own directory, by the custom of the layout", nil
	}
	wd, err := l.abs(".")
	if err != nil {
		return "", "", err
	}
	dir, err = l.nearest(wd)
	if err != nil || dir != "" {
		return dir, foundRule, err
	}
	dir, err = l.dataHome()
	return dir, dataRule, err
}

// nearest returns the nearest home at or above a directory, "" for none. What only
// looks like a home is passed over, so that it hides no memory of the user: see
// [trust.None].
func (l *locator) nearest(dir string) (string, error) {
	if home, found := l.homes[dir]; found {
		return home, nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if home, err := l.homeIn(dir, at); err != nil || home != "" {
			return home, err
		}
		if main := linkedFrom(at); main != "" {
			if home, err := l.homeIn(dir, main); err != nil || home != "" {
				return home, err
			}
		}
		if filepath.Dir(at) == at {
			l.remember(dir, "", verb.Place{}, trust.Verdict{})
			return "", nil
		}
	}
}

// homeIn returns the home that is directly in a directory and counts for the working
// directory wd, or "".
func (l *locator) homeIn(wd, dir string) (string, error) {
	h := filepath.Join(dir, homeDir)
	if !isDir(h) || !trust.MayBeHome(h) {
		return "", nil
	}
	p, err := l.placeAt(h, foundRule)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	v := l.host().Judge(p)
	if v.State == trust.None {
		l.warn("%s is not used: %s. To use it: %s", clean(h), clean(v.Why), clean(v.Mend))
		return "", nil
	}
	l.remember(wd, h, p, v)
	return h, nil
}

// remember keeps which home was found from a directory, with its verdict, and records
// a home of the user's own that the record does not contain yet.
func (l *locator) remember(dir, home string, p verb.Place, v trust.Verdict) {
	if l.homes == nil {
		l.homes = map[string]string{}
	}
	l.homes[dir] = home
	if home == "" {
		return
	}
	if v.Unrecorded {
		_ = l.host().Trusted.Made(context.Background(), p.Home, p.Store, l.env.Now()) // else the next run tries again
	}
	if v.State == trust.Foreign {
		l.warn(
			"%s is not trusted: %s; its entries are read as foreign, and nothing is written. To take it for your "+
				"own: %s",
			clean(p.Home), clean(v.Why), clean(v.Mend),
		)
	}
	l.judged = &v
}

// linkedFrom returns the main tree of a linked worktree of git whose root is dir, else "".
// Git keeps real paths, and dir may lead through links.
func linkedFrom(dir string) string {
	if fi, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return label.LinkedFrom(dir, os.ReadFile)
}

// canHold refuses what can be no home: opening a pipe would wait for its other
// end, and no directory can be made in the place of a link that leads nowhere.
func canHold(home string) error {
	fi, err := os.Stat(home)
	switch _, lerr := os.Lstat(home); {
	case err == nil && !fi.IsDir() && !fi.Mode().IsRegular():
		err = fmt.Errorf("the home %s is neither a directory nor a file", home)
	case errors.Is(err, fs.ErrNotExist) && lerr == nil:
		err = fmt.Errorf("the home %s is a link that leads nowhere", home)
	default:
		return nil
	}
	return &hinted{err, "make the directory that it should be, or name another home with --home DIR"}
}

// inUserHome reports whether a layout was named whose home is, by its custom, the
// user's own directory.
func (l *locator) inUserHome() bool {
	d, err := layout.Find(dialects, cmp.Or(l.dialectFlag, l.env.Getenv("OXBOW_DIALECT")))
	return err == nil && d.UserHome && l.userHome() != ""
}

// userHome returns the user's own directory, "" when it is not known.
func (l *locator) userHome() string {
	if dir := l.env.Getenv("USERPROFILE"); l.env.GOOS == "windows" && dir != "" {
		return dir
	}
	return l.env.Getenv("HOME")
}

// dataHome returns the user's own home for oxbow.
func (l *locator) dataHome() (string, error) {
	if dir := l.userPlace("LocalAppData", "Local", "XDG_DATA_HOME", ".local/share"); dir != "" {
		return dir, nil
	}
	return "", &hinted{
		err:  fmt.Errorf("finding a home: neither a %s directory nor the user's own directory is known", homeDir),
		hint: "give one with --home DIR, set OXBOW_HOME, or make one here with: oxbow init",
	}
}

// layoutState returns the directory of the user that has the state of a home of another
// layout. It reports whether the home is one.
func (l *locator) layoutState() (dir string, ok bool) {
	home, err := l.home()
	_, other, lerr := l.layout()
	data, derr := l.dataHome()
	if err != nil || lerr != nil || derr != nil || !other {
		return "", false
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(data, "layouts", hex.EncodeToString(sum[:8])), true
}

// configHome returns the directory of the user's own configuration of oxbow, ""
// when it is not known.
func (l *locator) configHome() string {
	return l.userPlace("AppData", "Roaming", "XDG_CONFIG_HOME", ".config")
}

// userPlace returns a directory of the user for oxbow: by the XDG base directory
// specification, or by the custom of macOS and Windows; "" when it is not known.
func (l *locator) userPlace(windowsVar, windowsDir, xdgVar, xdgDir string) string {
	user := l.userHome()
	switch l.env.GOOS {
	case "windows":
		if dir := l.env.Getenv(windowsVar); dir != "" {
			return filepath.Join(dir, "oxbow")
		}
		xdgDir = filepath.Join("AppData", windowsDir)
	case "darwin":
		xdgDir = "Library/Application Support"
	default:
		// The specification says to ignore a relative path.
		if dir := l.env.Getenv(xdgVar); filepath.IsAbs(dir) {
			return filepath.Join(dir, "oxbow")
		}
	}
	if user == "" {
		return ""
	}
	return filepath.Join(user, filepath.FromSlash(xdgDir), "oxbow")
}

// homeForClients returns the home that clients are told, which this rule chose: "" if they find
// it without the flags and variables of this run.
func (l *locator) homeForClients(home, rule string) string {
	if rule == foundRule {
		return ""
	}
	if rule == dataRule {
		plain := *l
		plain.env.Getenv = func(name string) string {
			if name == "XDG_DATA_HOME" {
				return ""
			}
			return l.env.Getenv(name)
		}
		if usual, err := plain.dataHome(); err == nil && usual == home {
			return ""
		}
	}
	return home
}

// homeArgs returns the words that lead a program to this home which is started
// elsewhere, with none of this shell's variables; "" where it finds it by itself.
func (l *locator) homeArgs() string {
	home, rule, err := l.findHome()
	home = l.homeForClients(home, rule)
	if err != nil || home == "" {
		return ""
	}
	return " --home " + quote(home)
}

// layout returns the dialect of the home, and false for oxbow's own: what
// --dialect or $OXBOW_DIALECT says, else what the files there look like.
func (l *locator) layout() (layout.Dialect, bool, error) {
	home, err := l.home()
	if err != nil {
		return layout.Dialect{}, false, err
	}
	return l.layoutOf(home)
}

func (l *locator) layoutOf(home string) (layout.Dialect, bool, error) {
	name, from := l.dialectFlag, "--dialect"
	if name == "" {
		name, from = l.env.Getenv("OXBOW_DIALECT"), "OXBOW_DIALECT"
	}
	if name == ownLayout || l.store != nil {
		return layout.Dialect{}, false, nil
	}
	if name != "" {
		d, err := layout.Find(dialects, name)
		if err != nil {
			return layout.Dialect{}, false, misusef("the layouts there are: "+
				strings.Join(layoutNames(), ", "), "%s %q is not known", from, name)
		}
		return d, true, nil
	}
	if fi, err := os.Stat(home); err != nil || !fi.IsDir() {
		return layout.Dialect{}, false, nil // made by the first change, or a file that is the store
	}
	if _, err := os.Lstat(filepath.Join(home, storeFile)); err == nil {
		return layout.Dialect{}, false, nil
	}
	fsys, err := vfs.Dir(home)
	if err != nil {
		return layout.Dialect{}, false, fmt.Errorf("opening the home: %w", err)
	}
	defer fsys.Close()
	return layout.Detect(dialects, fsys)
}

// memoryPlace returns where the memory lies.
func (l *locator) memoryPlace() (verb.Place, error) {
	home, rule, err := l.findHome()
	if err != nil {
		return verb.Place{Home: home, Rule: rule}, err
	}
	p, err := l.placeAt(home, rule)
	if errors.Is(err, fs.ErrPermission) { // doctor examines one that may not be opened, too
		err = nil
	}
	return p, err
}

// placeAt returns where the memory of a home lies, which that rule chose.
func (l *locator) placeAt(home, rule string) (verb.Place, error) {
	p := verb.Place{Home: home, Rule: rule, Found: rule == foundRule, Store: storeIn(home),
		ForClients: l.homeForClients(home, rule)}
	if p.Found {
		wd, err := l.abs(".")
		rel, rerr := filepath.Rel(filepath.Dir(home), wd)
		isAbove := rerr == nil && (rel == "." || filepath.IsLocal(rel))
		if err == nil && !isAbove {
			p.Rule = linkedRule
		}
	}
	d, other, err := l.layoutOf(home)
	if err == nil && other {
		p.Layout = d.Name
		p.Title = d.Title
		p.Store = filepath.Join(home, filepath.FromSlash(d.File))
	}
	return p, err
}

// ownOnly refuses a command that works on oxbow's own file alone.
func (l *locator) ownOnly(command string) error {
	d, other, err := l.layout()
	if err != nil || !other {
		return err
	}
	home, err := l.home()
	if err != nil {
		return err
	}
	return &hinted{
		fmt.Errorf(
			"%s works on oxbow's own layout, and %s is laid out as %s: %w",
			command,
			home,
			d.Name,
			oxbow.ErrUnsupported,
		),
		"oxbow convert makes a memory of oxbow's own layout from it",
	}
}

// storePath returns where the store is, or will be. A home that is a file is
// the store itself: so one looks into a backup, or into what was recovered.
func (l *locator) storePath() (string, error) {
	home, err := l.home()
	if err != nil {
		return "", err
	}
	return storeIn(home), nil
}

func storeIn(home string) string {
	if fi, err := os.Stat(home); err == nil && fi.Mode().IsRegular() {
		return home
	}
	return filepath.Join(home, storeFile)
}

// host describes the process and its machine.
func (l *locator) host() *verb.Host {
	return &verb.Host{Getenv: l.env.Getenv, GOOS: l.env.GOOS, FileSystem: l.env.FileSystem,
		Executable: l.env.Executable,
		Version:    readVersion(), Rand: l.env.Rand, NetworkFS: l.network, Trusted: trust.List{Dir: l.configHome()}}
}

// abs returns a path below the run's working directory.
func (l *locator) abs(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	wd, err := l.env.Getwd()
	if err != nil {
		return "", &hinted{
			fmt.Errorf("finding the working directory: %w", err),
			"it may have been deleted: change to another one, or give paths from the root",
		}
	}
	return filepath.Join(wd, path), nil
}

// project returns the project of a directory.
func (l *locator) project(dir string) (label.Project, error) {
	dir, err := l.abs(dir)
	if err != nil {
		return label.Project{}, err
	}
	return label.ProjectOf(dir, os.ReadFile, func(p string) bool {
		fi, err := os.Stat(p)
		return err == nil && fi.IsDir()
	})
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// verdict returns the state of the home. A home that was named, and the data
// directory, are the user's own.
func (l *locator) verdict() (trust.Verdict, error) {
	p, err := l.memoryPlace()
	if err != nil || !p.Found {
		return trust.Verdict{State: trust.Own}, err
	}
	return *l.judged, nil // by nearest
}

// isForeign reports whether the home is foreign.
func (l *locator) isForeign() (bool, error) {
	v, err := l.verdict()
	return v.State == trust.Foreign, err
}

// trustedHome returns the home unless it is foreign.
func (l *locator) trustedHome() (string, error) {
	home, err := l.home()
	if err != nil {
		return "", err
	}
	if foreign, err := l.isForeign(); err != nil || foreign {
		return "", cmp.Or(err, verb.Untrusted(home))
	}
	return home, nil
}

// homeIsOwn reports whether the home is the user's own: named by a flag or the
// environment, or the data directory. One that was found at or above the working
// directory may have come with a project.
func (l *locator) homeIsOwn(home string) bool {
	if l.homeFlag != "" || l.env.Getenv("OXBOW_HOME") != "" {
		return true
	}
	data, err := l.dataHome()
	return err == nil && (home == data || verb.SameFile(home, data))
}

// projectNamed returns the project that a flag means.
func (l *locator) projectNamed(s string) (string, error) {
	if s != autoProject {
		return s, nil
	}
	p, err := l.project(".")
	return p.Name, err
}

// autoProject is what --project takes for the project of the working directory.
const autoProject = "auto"

// isOnPath reports whether the name oxbow leads a shell to this program.
func (l *locator) isOnPath() bool {
	this, err := os.Stat(l.env.Executable)
	if err != nil {
		return true // not known
	}
	name := wordFor(l.env.GOOS == "windows", "oxbow", "oxbow.exe")
	for _, dir := range filepath.SplitList(l.env.Getenv("PATH")) {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() {
			return os.SameFile(this, fi)
		}
	}
	return false
}

// executableFor returns the path by which clients start this program: the one in
// PATH when it leads here, since that one stays when a new version comes.
func (l *locator) executableFor() string {
	this, err := os.Stat(l.env.Executable)
	name := wordFor(l.env.GOOS == "windows", "oxbow", "oxbow.exe")
	for _, dir := range filepath.SplitList(l.env.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if fi, ferr := os.Stat(path); err == nil && ferr == nil && filepath.IsAbs(path) && os.SameFile(this, fi) {
			return path
		}
	}
	return l.env.Executable
}
