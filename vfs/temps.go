// This file removes the temporary files of writers that were killed.

package vfs

import (
	"path"
	"strings"
	"time"
)

// StaleAfter is the age from which on a temporary file is left over: no writer takes so long.
const StaleAfter = time.Minute

// TempOf returns the name of the file that a temporary file of [CreateTemp] was to become, and
// false if a name is not that of a temporary file.
func TempOf(temp string) (name string, ok bool) {
	rest, ok := strings.CutSuffix(temp, ".tmp")
	dot := len(rest) - 17
	if !ok || dot < 1 || rest[dot] != '.' || strings.Trim(rest[dot+1:], "0123456789abcdef") != "" {
		return "", false
	}
	return rest[:dot], true
}

// RemoveStaleTemps removes the temporary files in a directory that killed writers left: those
// that are older than [StaleAfter] at the time now, and for which isOurs returns true for the
// name of the file that they were to become. What cannot be removed stays.
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
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > StaleAfter {
			_ = fsys.Remove(path.Join(dir, e.Name()))
		}
	}
}
