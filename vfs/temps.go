// This file removes temporary files that killed processes left.

package vfs

import (
	"path"
	"strings"
	"time"
)

// StaleAfter is the age after which a temporary file counts as abandoned. Writing a temporary file never takes so
// long.
const StaleAfter = time.Minute

// TempOf returns the final file name for the name of a temporary file that [CreateTemp] created. It returns false if
// temp is not the name of such a file.
func TempOf(temp string) (name string, ok bool) {
	rest, ok := strings.CutSuffix(temp, ".tmp")
	dot := len(rest) - 17
	if !ok || dot < 1 {
		return "", false
	}
	if rest[dot] != '.' || strings.Trim(rest[dot+1:], "0123456789abcdef") != "" {
		return "", false
	}
	return rest[:dot], true
}

// RemoveStaleTemps removes abandoned temporary files from the directory dir. The parameter now is the current time. A
// temporary file is removed if it was last modified more than [StaleAfter] before this time, and if isOurs returns
// true. The argument of isOurs is the final name that the temporary file would have received. Errors are ignored.
func RemoveStaleTemps(fsys FS, dir string, now time.Time, isOurs func(name string) bool) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, ok := TempOf(e.Name())
		if !ok || !isOurs(name) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if now.Sub(info.ModTime()) > StaleAfter {
			_ = fsys.Remove(path.Join(dir, e.Name()))
		}
	}
}
