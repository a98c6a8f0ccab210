// This file describes the machine on which clients are set up.

package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// A Machine describes what setup needs to know about a computer: its environment and its directories.
type Machine struct {
	Getenv func(string) string
	GOOS   string
	User   string // home directory of the user
	Dir    string // directory of the project
	State  string // directory in which setup stores its records
}

// userPath returns the path p in the user's home directory.
func (w Machine) userPath(p string) string { return filepath.Join(w.User, filepath.FromSlash(p)) }

// pathInVariable returns the path p in the directory that an environment variable contains. If the variable is not
// set, the directory is otherwise, in the user's home directory.
func (w Machine) pathInVariable(variable, otherwise string, p string) string {
	return filepath.Join(cmp.Or(w.Getenv(variable), w.userPath(otherwise)), filepath.FromSlash(p))
}

// clientPath returns the path p in the directory of a client.
func (w Machine) clientPath(client, p string) string {
	return filepath.Join(clientfile.HomeDir(client, w.User, w.Getenv), filepath.FromSlash(p))
}

// configPath returns the path p in the user's configuration directory. Its location follows the rules of Electron
// programs.
func (w Machine) configPath(p string) string {
	switch w.GOOS {
	case "windows":
		return w.pathInVariable("APPDATA", "AppData/Roaming", p)
	case "darwin":
		return w.userPath(path.Join("Library/Application Support", p))
	}
	return w.pathInVariable("XDG_CONFIG_HOME", ".config", p)
}

// DisplayPath returns a path as it is shown to people, with ~ for the user's home directory.
func (w Machine) DisplayPath(path string) string {
	if w.GOOS == "windows" {
		return path
	}
	if rel, err := filepath.Rel(w.User, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

// chooseIf returns a if ok is true, and otherwise b.
func chooseIf[T any](ok bool, a, b T) T {
	if ok {
		return a
	}
	return b
}
