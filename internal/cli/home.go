// This file defines homeFinder, which finds the home. The home is the directory that contains the store.

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
	"sync/atomic"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/project"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// storeFileName is the file name of the store in a home.
const storeFileName = "memory.oxbow"

// homeDirName is the directory name of a home inside a project.
const homeDirName = injection.ProjectDir

// homeFinder finds the home that a command uses, which is the directory or other place with the memory. It also
// describes this home and how it was found.
type homeFinder struct {
	env             *environment
	homeFlag        string
	dialectFlag     string
	allowsNetworkFS bool // --allow-network-fs: allows writing on a network file system

	// openStore opens the store of a home that is not a directory. It is nil if the home is a directory.
	openStore func(context.Context) (oxbow.Store, error)

	// the home found from each start directory ("" if none was found), cached for one run
	homeByStartDir map[string]string
	lastVerdict    *trust.OwnershipVerdict // verdict on the home that was found last (nil if none was found)

	skipsUntrustedHomeWarning bool // The command decides by itself whether the home is trusted.

	servedHome atomic.Pointer[string] // home of a server, set by cacheServerHome
	// cacheServerHome has found a home that cannot have an archive of sessions, so servedHome stays unset
	hasNoServedHome atomic.Bool
}

// homePath returns the path of the home, which need not exist. It uses the first of these that is set or exists:
//
//   - the flag --home
//   - the environment variable OXBOW_HOME
//   - the nearest directory .oxbow at or above the working directory
//   - the user's data directory
//
// Some layouts have their home in a fixed directory of the user. For such a layout, only the flag, the environment
// variable and this directory are used.
//
// If another user owns a home that was found at or above the working directory, or if others may write to it, homePath
// returns an error.
func (finder *homeFinder) homePath() (string, error) {
	dir, rule, err := finder.findHomeAndReason()
	if err != nil || rule != nearestHomeReason {
		return dir, err
	}
	v, err := finder.trustVerdict()
	if err == nil && v.Ownership == trust.Refused {
		err = &hintedError{fmt.Errorf("the home %s was found here and is not used: %s", dir, v.Reason), v.Mend}
	}
	return dir, err
}

// nearestHomeReason describes the rule by which a home was found if the person did not name a home. A home is a
// directory with a memory. A home that was found by this rule may have come with a project from somebody else.
const nearestHomeReason = "the nearest " + homeDirName + " at or above the working directory"

// mainWorktreeHomeReason describes why oxbow chose the home in the main working tree of a git repository. oxbow chooses
// this home if the command runs in another worktree of the same repository.
const mainWorktreeHomeReason = "the " + homeDirName + " of the main tree of this git worktree"

const dataDirHomeReason = "your data directory"

// findHomeAndReason returns the home, and a phrase that names the rule by which the home was chosen.
//
// If the home was not found from the working directory, findHomeAndReason also creates the user's list of trusted
// homes, unless the list exists. When the list is created, all existing homes become trusted, because an earlier
// version of oxbow may have created them. The list should therefore be created early, before the user unpacks an
// archive that contains somebody else's home.
func (finder *homeFinder) findHomeAndReason() (dir, choiceReason string, err error) {
	dir, choiceReason, err = finder.chooseHome()
	if err == nil && choiceReason != nearestHomeReason {
		finder.host().TrustList.StartHomeRecord()
	}
	return dir, choiceReason, err
}

// chooseHome returns the path of the home, which contains oxbow's memory. The result choiceReason describes the rule by
// which the home was chosen. chooseHome returns the first of these that is set or exists, or else the last:
//
//   - the home that the flag --home names
//   - the home that the environment variable OXBOW_HOME names
//   - the user's home directory, if the layout stores its memory there by custom
//   - the nearest home at or above the working directory
//   - the home in the user's data directory
func (finder *homeFinder) chooseHome() (dir, choiceReason string, err error) {
	for _, c := range []struct{ dir, rule string }{
		{finder.homeFlag, "--home"},
		{finder.env.Getenv("OXBOW_HOME"), "$OXBOW_HOME"},
	} {
		if c.dir == "" {
			continue
		}
		dir, err = finder.env.absolutePath(c.dir)
		if err == nil {
			err = checkHomePath(dir)
		}
		return dir, c.rule, err
	}
	if finder.usesUserHome() {
		return filepath.Clean(finder.env.userHomeDir()), "the user's own directory, by the custom of the layout", nil
	}
	wd, err := finder.env.absolutePath(".")
	if err != nil {
		return "", "", err
	}
	dir, err = finder.nearestHome(wd)
	if err != nil || dir != "" {
		return dir, nearestHomeReason, err
	}
	dir, err = finder.env.dataHome()
	return dir, dataDirHomeReason, err
}

// nearestHome returns the nearest home (a directory with a memory) at or above the directory dir, or "" if none exists.
// If dir or a directory above it belongs to a linked working tree of a git repository, nearestHome also searches the
// repository's main working tree. Directories without a usable memory are skipped, because otherwise such a directory
// would hide the user's own memory in a directory above.
func (finder *homeFinder) nearestHome(dir string) (string, error) {
	if home, found := finder.homeByStartDir[dir]; found {
		return home, nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		if home, err := finder.findUsableHome(dir, at); err != nil || home != "" {
			return home, err
		}
		if main := findMainWorktree(at); main != "" {
			if home, err := finder.findUsableHome(dir, main); err != nil || home != "" {
				return home, err
			}
		}
		if filepath.Dir(at) == at {
			finder.cacheHome(dir, "", verb.Place{}, trust.OwnershipVerdict{})
			return "", nil
		}
	}
}

// findUsableHome returns the path of the directory .oxbow inside dir, if it can be used as a home. It caches the result
// for the start directory workingDir. A home that is not trusted is returned, too, and is then only read.
//
// findUsableHome returns "" if dir has no such directory. If the directory exists but its content shows that it is not
// a usable home, findUsableHome prints a warning and returns "".
func (finder *homeFinder) findUsableHome(workingDir, dir string) (string, error) {
	h := filepath.Join(dir, homeDirName)
	if !isDir(h) || !trust.MayDirBeHome(h) {
		return "", nil
	}
	p, err := finder.describeHomePlace(h, nearestHomeReason)
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return "", err
	}
	v := ownership.JudgeHomeTrust(finder.host(), p)
	if v.Ownership == trust.NotAHome {
		finder.env.printWarning(
			"%s is not used: %s. To use it: %s",
			replaceHarmfulChars(h),
			replaceHarmfulChars(v.Reason),
			replaceHarmfulChars(v.Mend),
		)
		return "", nil
	}
	finder.cacheHome(workingDir, h, p, v)
	return h, nil
}

// cacheHome caches the home that was found from the directory dir. The argument home is "" if no home was found. The
// argument verdict says whether the home belongs to the user.
//
// If the home belongs to the user but is not in the user's record of own homes, cacheHome adds it to the record. If
// nothing shows that the home belongs to the user, cacheHome prints a warning, unless skipsUntrustedHomeWarning is set.
func (finder *homeFinder) cacheHome(dir, home string, p verb.Place, verdict trust.OwnershipVerdict) {
	if finder.homeByStartDir == nil {
		finder.homeByStartDir = map[string]string{}
	}
	finder.homeByStartDir[dir] = home
	if home == "" {
		return
	}
	if verdict.LacksTrustRecord {
		_ = finder.host().TrustList.RecordHome(
			context.Background(),
			p.Home,
			p.StorePath,
			finder.env.Now(),
		) // If the home cannot be recorded as seen, the next run tries again.
	}
	if verdict.Ownership == trust.ForeignHome && !finder.skipsUntrustedHomeWarning {
		finder.env.printWarning(
			"not trusted, so only read: %s; if this memory is yours: %s",
			replaceHarmfulChars(verdict.Reason),
			replaceHarmfulChars(verdict.Mend),
		)
	}
	finder.lastVerdict = &verdict
}

// findMainWorktree returns the main tree of the linked git worktree whose root is dir. It returns "" if dir is not
// such a root. It resolves symbolic links in dir, because git stores resolved paths.
func findMainWorktree(dir string) string {
	if fi, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return project.FindMainWorktree(dir, os.ReadFile)
}

// checkHomePath returns an error if the path cannot be a home. The path may be a directory or a regular file, or may
// not exist. A pipe is refused, because opening it would wait for its other end. A link without a target is refused,
// because a directory cannot be created in its place.
func checkHomePath(home string) error {
	fi, err := os.Stat(home)
	switch _, lerr := os.Lstat(home); {
	case err == nil && !fi.IsDir() && !fi.Mode().IsRegular():
		err = fmt.Errorf("the home %s is neither a directory nor a file", home)
	case errors.Is(err, fs.ErrNotExist) && lerr == nil:
		err = fmt.Errorf("the home %s is a link that leads nowhere", home)
	default:
		return nil
	}
	return &hintedError{err, "make the directory that it should be, or name another home with --home DIR"}
}

// usesUserHome reports whether the layout keeps its home in the user's home directory. The layout is named by the flag
// in dialectFlag or by the variable OXBOW_DIALECT. usesUserHome returns false if the layout is unknown or if the user
// has no home directory.
func (finder *homeFinder) usesUserHome() bool {
	d, err := layout.Find(nonOxbowLayouts, cmp.Or(finder.dialectFlag, finder.env.Getenv("OXBOW_DIALECT")))
	return err == nil && d.UserHome && finder.env.userHomeDir() != ""
}

// userHomeDir returns the user's home directory in the sense of the operating system, or "" if it is not known.
func (env *environment) userHomeDir() string {
	if dir := env.Getenv("USERPROFILE"); env.GOOS == "windows" && dir != "" {
		return dir
	}
	return env.Getenv("HOME")
}

// dataHome returns the path of the home in the user's data directory.
func (env *environment) dataHome() (string, error) {
	if dir := env.userOxbowDir("LocalAppData", "Local", "XDG_DATA_HOME", ".local/share"); dir != "" {
		return dir, nil
	}
	return "", &hintedError{
		err: fmt.Errorf(
			"finding a home: neither a %s directory nor the user's own directory is known",
			homeDirName,
		),
		remedy: "give one with --home DIR, set OXBOW_HOME, or make one here with: oxbow init",
	}
}

// nonOxbowStateDir returns the directory in which oxbow keeps the user's state for a home of another layout. ok is
// false if the home has oxbow's own layout, or if an error occurred.
func (finder *homeFinder) nonOxbowStateDir() (dir string, ok bool) {
	home, err := finder.homePath()
	_, other, lerr := finder.detectLayout()
	data, derr := finder.env.dataHome()
	if !other || errors.Join(err, lerr, derr) != nil {
		return "", false
	}
	sum := sha256.Sum256([]byte(home))
	return filepath.Join(data, "layouts", hex.EncodeToString(sum[:8])), true
}

// configDir returns the directory for the user's configuration of oxbow, or "" if it is not known.
func (env *environment) configDir() string {
	return env.userOxbowDir("AppData", "Roaming", "XDG_CONFIG_HOME", ".config")
}

// userOxbowDir returns the directory oxbow inside a standard directory of the user. On Windows, the standard directory
// is the value of the variable windowsVar, or else the subdirectory windowsDir of AppData. On macOS, it is
// Library/Application Support. On other systems, it is the value of the variable xdgVar, or else the subdirectory
// xdgDir of the user's home directory, as in the XDG base directory specification. If the user's home directory is
// needed and not known, userOxbowDir returns "".
func (env *environment) userOxbowDir(windowsVar, windowsDir, xdgVar, xdgDir string) string {
	user := env.userHomeDir()
	switch env.GOOS {
	case "windows":
		if dir := env.Getenv(windowsVar); dir != "" {
			return filepath.Join(dir, "oxbow")
		}
		xdgDir = filepath.Join("AppData", windowsDir)
	case "darwin":
		xdgDir = "Library/Application Support"
	default:
		// The specification requires that a relative path is ignored.
		if dir := env.Getenv(xdgVar); filepath.IsAbs(dir) {
			return filepath.Join(dir, "oxbow")
		}
	}
	if user == "" {
		return ""
	}
	return filepath.Join(user, filepath.FromSlash(xdgDir), "oxbow")
}

// homeForClientConfig returns the home that must be written into the configuration of clients. It returns "" if clients
// find the home without this configuration. The argument choiceReason is the rule by which oxbow chose the home.
//
// A client finds the home itself if the home is the nearest home at or above the working directory. It also finds the
// home in the user's data directory, unless the variable XDG_DATA_HOME has changed the data directory. A client may
// start oxbow without this variable.
func (finder *homeFinder) homeForClientConfig(home, choiceReason string) string {
	if choiceReason == nearestHomeReason {
		return ""
	}
	if choiceReason == dataDirHomeReason {
		plain := *finder.env
		plain.Getenv = func(name string) string {
			if name == "XDG_DATA_HOME" {
				return ""
			}
			return finder.env.Getenv(name)
		}
		if usual, err := plain.dataHome(); err == nil && usual == home {
			return ""
		}
	}
	return home
}

// homeFlagForClients returns the flag --home with its value, for a command that a client runs. The client may start the
// command in another directory and without the environment variables of this shell. The result is "" if the command
// finds the home without the flag, or if no home was found.
func (finder *homeFinder) homeFlagForClients() string {
	home, rule, err := finder.findHomeAndReason()
	home = finder.homeForClientConfig(home, rule)
	if err != nil || home == "" {
		return ""
	}
	return " --home " + shellQuote(home)
}

// detectLayout returns the dialect that describes the layout of the home. The flag --dialect or the variable
// $OXBOW_DIALECT may name the layout. Otherwise it is detected from the files in the home. The bool is false if the
// home has oxbow's own layout.
func (finder *homeFinder) detectLayout() (layout.Dialect, bool, error) {
	home, err := finder.homePath()
	if err != nil {
		return layout.Dialect{}, false, err
	}
	return finder.findLayout(home)
}

func (finder *homeFinder) findLayout(home string) (layout.Dialect, bool, error) {
	name, from := finder.dialectFlag, "--dialect"
	if name == "" {
		name, from = finder.env.Getenv("OXBOW_DIALECT"), "OXBOW_DIALECT"
	}
	if name == ownLayoutName || finder.openStore != nil {
		return layout.Dialect{}, false, nil
	}
	if name != "" {
		d, err := layout.Find(nonOxbowLayouts, name)
		if err != nil {
			return layout.Dialect{}, false, usageErrorf("the layouts there are: "+
				strings.Join(layoutNames(), ", "), "%s %q is not known", from, name)
		}
		return d, true, nil
	}
	if fi, err := os.Stat(home); err != nil || !fi.IsDir() {
		return layout.Dialect{}, false, nil // The home does not exist yet, or it is a store file.
	}
	if _, err := os.Lstat(filepath.Join(home, storeFileName)); err == nil {
		return layout.Dialect{}, false, nil
	}
	fsys, err := vfs.Dir(home)
	if err != nil {
		return layout.Dialect{}, false, fmt.Errorf("opening the home: %w", err)
	}
	defer fsys.Close()
	return layout.Detect(nonOxbowLayouts, fsys)
}

// memoryPlace returns the place of the memory that this run uses.
func (finder *homeFinder) memoryPlace() (verb.Place, error) {
	home, rule, err := finder.findHomeAndReason()
	if err != nil {
		return verb.Place{Home: home, HomeChoiceReason: rule}, err
	}
	p, err := finder.describeHomePlace(home, rule)
	if errors.Is(err, fs.ErrPermission) { // The command doctor must be able to examine a home that it may not open.
		err = nil
	}
	return p, err
}

// describeHomePlace returns a description of the place of a home's memory. It contains the path of the memory, the
// layout, and the rule by which oxbow chose this home. The argument choiceReason is this rule.
//
// If choiceReason is nearestHomeReason, but the home is not at or above the working directory, the home is in the main
// working tree of a git repository. The description then contains mainWorktreeHomeReason instead.
func (finder *homeFinder) describeHomePlace(home, choiceReason string) (verb.Place, error) {
	p := verb.Place{
		Home:                home,
		HomeChoiceReason:    choiceReason,
		FoundFromWorkingDir: choiceReason == nearestHomeReason,
		StorePath:           storePathIn(home),
		ClientHome:          finder.homeForClientConfig(home, choiceReason),
	}
	if p.FoundFromWorkingDir {
		wd, err := finder.env.absolutePath(".")
		rel, rerr := filepath.Rel(filepath.Dir(home), wd)
		isAbove := rerr == nil && (rel == "." || filepath.IsLocal(rel))
		if err == nil && !isAbove {
			p.HomeChoiceReason = mainWorktreeHomeReason
		}
	}
	d, other, err := finder.findLayout(home)
	if err == nil && other {
		p.LayoutName = d.Name
		p.LayoutTitle = d.Title
		p.StorePath = filepath.Join(home, filepath.FromSlash(d.File))
	}
	return p, err
}

// requireOxbowLayout returns an error if the home has another layout than oxbow's own. It is called for a command that
// works only with oxbow's own store file. The argument command is the name of this command, for the error.
func (finder *homeFinder) requireOxbowLayout(command string) error {
	d, other, err := finder.detectLayout()
	if err != nil || !other {
		return err
	}
	home, err := finder.homePath()
	if err != nil {
		return err
	}
	return &hintedError{
		fmt.Errorf(
			"%s works on oxbow's own layout, and %s is laid out as %s: %w",
			command,
			home,
			d.Name,
			oxbow.ErrUnsupported,
		),
		"oxbow convert DIR makes a memory of oxbow's own layout from it",
	}
}

// storePath returns the path of the store, which need not exist. If the home is a file, that file is the store, so
// that a backup or a recovered store can be read.
func (finder *homeFinder) storePath() (string, error) {
	home, err := finder.homePath()
	if err != nil {
		return "", err
	}
	return storePathIn(home), nil
}

func storePathIn(home string) string {
	if fi, err := os.Stat(home); err == nil && fi.Mode().IsRegular() {
		return home
	}
	return filepath.Join(home, storeFileName)
}

// host returns a description of this process and its machine.
func (finder *homeFinder) host() *verb.Host {
	return &verb.Host{Getenv: finder.env.Getenv, GOOS: finder.env.GOOS, FileSystem: finder.env.DescribeFileSystem,
		Executable: finder.env.Executable, Version: programVersion(), Rand: finder.env.Rand,
		AllowsNetworkFS: finder.allowsNetworkFS,
		TrustList:       trust.List{Dir: finder.env.configDir()}}
}

// absolutePath returns the absolute form of a path that is relative to the run's working directory.
func (env *environment) absolutePath(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	wd, err := env.Getwd()
	if err != nil {
		return "", &hintedError{
			fmt.Errorf("finding the working directory: %w", err),
			"it may have been deleted: change to another one, or give paths from the root",
		}
	}
	return filepath.Join(wd, path), nil
}

// projectOf returns the project that contains a directory.
func (env *environment) projectOf(dir string) (project.Project, error) {
	dir, err := env.absolutePath(dir)
	if err != nil {
		return project.Project{}, err
	}
	return project.FindProject(dir, os.ReadFile, func(p string) bool {
		fi, err := os.Stat(p)
		return err == nil && fi.IsDir()
	})
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// trustVerdict returns whether the home is trusted. A home is the user's own, and is therefore trusted, if it was not
// found from the working directory. Such a home was named by a flag or an environment variable, or it is in the user's
// data directory.
func (finder *homeFinder) trustVerdict() (trust.OwnershipVerdict, error) {
	p, err := finder.memoryPlace()
	if err != nil || !p.FoundFromWorkingDir {
		return trust.OwnershipVerdict{Ownership: trust.OwnHome}, err
	}
	return *finder.lastVerdict, nil // nearestHome has set lastVerdict to the verdict about this home.
}

// isForeignHome reports whether the home is foreign. A foreign home contains a memory, but nothing shows that the
// memory belongs to the user or that the user trusts it.
func (finder *homeFinder) isForeignHome() (bool, error) {
	v, err := finder.trustVerdict()
	return v.Ownership == trust.ForeignHome, err
}

// trustedHome returns the path of the home. It returns an error if the home is foreign, which means that nothing shows
// that its memory belongs to the user (see isForeignHome).
func (finder *homeFinder) trustedHome() (string, error) {
	home, err := finder.homePath()
	if err != nil {
		return "", err
	}
	if foreign, err := finder.isForeignHome(); err != nil || foreign {
		return "", cmp.Or(err, ownership.NewUntrustedError(home))
	}
	return home, nil
}

// isOwnHome reports whether the home belongs to the user. This is so if a flag or $OXBOW_HOME named the home, or if it
// is in the user's data directory. Any other home was found at or above the working directory, and may have come with
// a project.
func (finder *homeFinder) isOwnHome(home string) bool {
	if finder.homeFlag != "" || finder.env.Getenv("OXBOW_HOME") != "" {
		return true
	}
	data, err := finder.env.dataHome()
	return err == nil && (home == data || output.SameFile(home, data))
}

// resolveProject returns the name of the project that a flag's value refers to. The value [autoProject] refers to the
// project that contains the working directory.
func (env *environment) resolveProject(projectFlag string) (string, error) {
	if projectFlag != autoProject {
		return projectFlag, nil
	}
	p, err := env.projectOf(".")
	return p.Name, err
}

// autoProject is the value of --project that refers to the working directory's project.
const autoProject = "auto"

// isExecutableInPath reports whether a shell finds this executable if a person types oxbow. It returns true if this
// cannot be determined.
func (env *environment) isExecutableInPath() bool {
	this, err := os.Stat(env.Executable)
	if err != nil {
		return true // The path of this executable is unknown, so assume that a shell finds it.
	}
	name := chooseDryRunWording(env.GOOS == "windows", "oxbow", "oxbow.exe")
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		if fi, err := os.Stat(filepath.Join(dir, name)); err == nil && fi.Mode().IsRegular() {
			return os.SameFile(this, fi)
		}
	}
	return false
}

// executableForClients returns the path by which clients start this program. It prefers a path in a PATH directory
// that refers to this executable, because that path stays valid after an upgrade.
func (env *environment) executableForClients() string {
	this, err := os.Stat(env.Executable)
	if err != nil {
		return env.Executable
	}
	name := chooseDryRunWording(env.GOOS == "windows", "oxbow", "oxbow.exe")
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		fi, err := os.Stat(path)
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		if os.SameFile(this, fi) {
			return path
		}
	}
	return env.Executable
}

// hasNonOxbowLayout reports whether the home has another layout than oxbow's own.
func (finder *homeFinder) hasNonOxbowLayout() bool {
	_, other, err := finder.detectLayout()
	return err == nil && other
}
