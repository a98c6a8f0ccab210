// What switches hooks off, or what they put before a model.

package command

import (
	"os"
	"path/filepath"
)

// hooksOff is a file that switches hooks off, and injectOff one that switches off what
// they put before a model: in a home, or in the directory .oxbow of a project.
const (
	hooksOff  = "hooks.off"
	injectOff = "inject.off"
)

// isOff reports whether a file of that name switches something off for the home, or
// for a project that holds the directory of the session.
func (a *app) isOff(name, home, dir string) bool {
	if _, err := os.Stat(filepath.Join(home, name)); err == nil {
		return true
	}
	for filepath.IsAbs(dir) {
		if _, err := os.Stat(filepath.Join(dir, homeDir, name)); err == nil {
			return true
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return false
}
