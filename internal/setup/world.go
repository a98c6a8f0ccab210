// This file describes the machine on which clients are set up.

package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// A World is a machine on which clients are set up.
type World struct {
	Getenv func(string) string
	GOOS   string
	User   string // the user's home directory
	Dir    string // the project's directory
	State  string // the directory of setup's records
}

// userPath returns a path in the user's home directory.
func (w World) userPath(p string) string { return filepath.Join(w.User, filepath.FromSlash(p)) }

// dirFrom returns a path in the directory that an environment variable contains. If the variable is not
// set, the directory is otherwise, relative to the user's home directory.
func (w World) dirFrom(variable, otherwise string, p string) string {
	return filepath.Join(cmp.Or(w.Getenv(variable), w.userPath(otherwise)), filepath.FromSlash(p))
}

// clientHome returns a path in a client's own directory.
func (w World) clientHome(client, p string) string {
	return filepath.Join(clientfile.Home(client, w.User, w.Getenv), filepath.FromSlash(p))
}

// configPath returns a path in the user's configuration directory. It follows the rules of Electron
// programs.
func (w World) configPath(p string) string {
	switch w.GOOS {
	case "windows":
		return w.dirFrom("APPDATA", "AppData/Roaming", p)
	case "darwin":
		return w.userPath(path.Join("Library/Application Support", p))
	}
	return w.dirFrom("XDG_CONFIG_HOME", ".config", p)
}

// Title returns a path for display, with ~ in place of the user's home directory.
func (w World) Title(path string) string {
	if w.GOOS == "windows" {
		return path
	}
	if rel, err := filepath.Rel(w.User, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

func choose[T any](ok bool, a, b T) T {
	if ok {
		return a
	}
	return b
}
