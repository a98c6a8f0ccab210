// This file finds the home: the directory that holds the store.

package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/dialect"
)

// storeFile is the name of the store inside its home.
const storeFile = "memory.oxbow"

// homeDir is the name of a project's own home.
const homeDir = ".oxbow"

// home returns the directory that holds the store, whether or not it is there
// yet: what --home says, else $OXBOW_HOME, else the nearest directory .oxbow
// at or above the working directory, else the user's data directory. A layout
// whose custom is the user's own directory has that in the place of the last two.
func (a *app) home() (string, error) {
	dir, _, err := a.findHome()
	return dir, err
}

// findHome returns the home, and in words the rule that chose it.
func (a *app) findHome() (dir, rule string, err error) {
	wd, err := a.env.Getwd()
	if err != nil {
		return "", "", fmt.Errorf("finding the working directory: %w", err)
	}
	for _, c := range []struct{ dir, rule string }{{a.homeFlag, "--home"}, {a.env.Getenv("OXBOW_HOME"), "$OXBOW_HOME"}} {
		if c.dir == "" {
			continue
		}
		if !filepath.IsAbs(c.dir) {
			c.dir = filepath.Join(wd, c.dir)
		}
		return filepath.Clean(c.dir), c.rule, nil
	}
	if a.inUserHome() {
		return filepath.Clean(a.userHome()), "the user's own directory, by the custom of the layout", nil
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		h := filepath.Join(dir, homeDir)
		if fi, err := os.Stat(h); err == nil && fi.IsDir() && !onlyAnnotations(h) {
			return h, "the nearest " + homeDir + " at or above the working directory", nil
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	dir, err = a.dataHome()
	return dir, "your data directory", err
}

// inUserHome reports whether a layout was named whose home is, by its custom, the
// user's own directory.
func (a *app) inUserHome() bool {
	d, err := dialect.Find(dialects, cmp.Or(a.dialectFlag, a.env.Getenv("OXBOW_DIALECT")))
	return err == nil && d.UserHome && a.userHome() != ""
}

// userHome returns the user's own directory, "" when it is not known.
func (a *app) userHome() string {
	if dir := a.env.Getenv("USERPROFILE"); a.env.GOOS == "windows" && dir != "" {
		return dir
	}
	return a.env.Getenv("HOME")
}

// onlyAnnotations reports whether a directory holds annotations of code and no
// memory: they are made in every repository, and are no reason to keep its
// memory there.
func onlyAnnotations(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 1 && entries[0].Name() == "annotations"
}

// dataHome returns the user's own home for oxbow: by the XDG base directory
// specification, or by the custom of macOS and Windows.
func (a *app) dataHome() (string, error) {
	get := a.env.Getenv
	user := get("HOME")
	switch a.env.GOOS {
	case "windows":
		if dir := get("LocalAppData"); dir != "" {
			return filepath.Join(dir, "oxbow"), nil
		}
		user = get("USERPROFILE")
		if user != "" {
			return filepath.Join(user, "AppData", "Local", "oxbow"), nil
		}
	case "darwin":
		if user != "" {
			return filepath.Join(user, "Library", "Application Support", "oxbow"), nil
		}
	default:
		// The specification says to ignore a relative path.
		if dir := get("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "oxbow"), nil
		}
		if user != "" {
			return filepath.Join(user, ".local", "share", "oxbow"), nil
		}
	}
	return "", &hinted{
		err:  fmt.Errorf("finding a home: neither a %s directory nor the user's own directory is known", homeDir),
		hint: "give one with --home DIR, set OXBOW_HOME, or make one here with: oxbow init",
	}
}
