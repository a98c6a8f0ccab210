// This file describes the machine on which clients are set up.

package setup

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// A Machine contains the facts about a computer that setup needs: the environment and the directories.
type Machine struct {
	Getenv      func(string) string
	GOOS        string
	UserHomeDir string // home directory of the user
	ProjectDir  string // directory of the project
	StateDir    string // directory in which setup stores its records
}

// pathInUserDir returns the path of a file in the user's home directory. The argument name is relative to this
// directory, with slashes.
func (w Machine) pathInUserDir(name string) string {
	return filepath.Join(w.UserHomeDir, filepath.FromSlash(name))
}

// pathFromVariable returns the path that consists of a directory and the relative path name. The directory is the value
// of the environment variable whose name is the argument variable. If the variable is not set, the directory is
// fallbackDir in the user's home directory.
func (w Machine) pathFromVariable(variable, fallbackDir string, name string) string {
	return filepath.Join(cmp.Or(w.Getenv(variable), w.pathInUserDir(fallbackDir)), filepath.FromSlash(name))
}

// pathInClientDir returns the path of a file or directory in the directory of a client. The parameter name is its path
// relative to that directory, with slashes.
func (w Machine) pathInClientDir(client, name string) string {
	return filepath.Join(clientfile.HomeDir(client, w.UserHomeDir, w.Getenv), filepath.FromSlash(name))
}

// pathInConfigDir returns the path of a file or directory in the user's configuration directory. The argument name is
// the path relative to this directory. The location of the configuration directory follows the rules of Electron
// programs.
func (w Machine) pathInConfigDir(name string) string {
	switch w.GOOS {
	case "windows":
		return w.pathFromVariable("APPDATA", "AppData/Roaming", name)
	case "darwin":
		return w.pathInUserDir(path.Join("Library/Application Support", name))
	}
	return w.pathFromVariable("XDG_CONFIG_HOME", ".config", name)
}

// DisplayPath returns a path as it is shown to people, with ~ for the user's home directory.
func (w Machine) DisplayPath(path string) string {
	if w.GOOS == "windows" {
		return path
	}
	if rel, err := filepath.Rel(w.UserHomeDir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

func fileExists(p string) bool { _, err := os.Stat(p); return err == nil }

// choose returns ifTrue if condition is true, and otherwise ifFalse.
func choose[T any](condition bool, ifTrue, ifFalse T) T {
	if condition {
		return ifTrue
	}
	return ifFalse
}
