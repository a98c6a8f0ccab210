// The machine that clients are set up on.

package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/clientline"
)

// World is the machine that clients are set up on.
type World struct {
	Getenv func(string) string
	GOOS   string
	User   string // the user's directory
	Dir    string // the project's, for its own files
	State  string // the directory of the records
}

// user returns a path below the user's directory.
func (w World) user(p string) string { return filepath.Join(w.User, filepath.FromSlash(p)) }

// dir returns a path below a directory that a variable may name.
func (w World) dir(variable, otherwise string, p string) string {
	return filepath.Join(cmp.Or(w.Getenv(variable), w.user(otherwise)), filepath.FromSlash(p))
}

// home returns a path below the directory of a client.
func (w World) home(client, p string) string {
	return filepath.Join(clientline.Home(client, w.User, w.Getenv), filepath.FromSlash(p))
}

// config returns a path below the directory of the user's configuration, as
// programs made with Electron have it.
func (w World) config(p string) string {
	switch w.GOOS {
	case "windows":
		return w.dir("APPDATA", "AppData/Roaming", p)
	case "darwin":
		return w.user(path.Join("Library/Application Support", p))
	}
	return w.dir("XDG_CONFIG_HOME", ".config", p)
}

// Title returns the path as a person writes it.
func (w World) Title(path string) string {
	if rel, err := filepath.Rel(w.User, path); err == nil && filepath.IsLocal(rel) && w.GOOS != "windows" {
		return filepath.Join("~", rel)
	}
	return path
}

func exists(p string) bool { _, err := os.Stat(p); return err == nil }

func cond[T any](ok bool, a, b T) T {
	if ok {
		return a
	}
	return b
}
