// This file describes the machine on which clients are set up.

package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// A Machine is a machine on which clients are set up.
type Machine struct {
	Getenv func(string) string
	GOOS   string
	User   string // the user's home directory
	Dir    string // the project's directory
	State  string // the directory of setup's records
}

// userPath returns a path in the user's home directory.
func (w Machine) userPath(p string) string { return filepath.Join(w.User, filepath.FromSlash(p)) }

// pathInVariable returns a path in the directory that an environment variable contains. If the variable is not
// set, the directory is otherwise, relative to the user's home directory.
func (w Machine) pathInVariable(variable, otherwise string, p string) string {
	return filepath.Join(cmp.Or(w.Getenv(variable), w.userPath(otherwise)), filepath.FromSlash(p))
}

// clientPath returns a path in a client's own directory.
func (w Machine) clientPath(client, p string) string {
	return filepath.Join(clientfile.HomeDir(client, w.User, w.Getenv), filepath.FromSlash(p))
}

// configPath returns a path in the user's configuration directory. It follows the rules of Electron
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

// DisplayPath returns a path for display, with ~ in place of the user's home directory.
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

// chooseIf returns a if ok is true, otherwise b.
func chooseIf[T any](ok bool, a, b T) T {
	if ok {
		return a
	}
	return b
}
