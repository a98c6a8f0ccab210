// This file examines the directories of an import: which files were deleted or renamed since an earlier import, and
// whether a directory is a vault.

package exchange

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// GoneFiles returns a function that reports whether an entry's origin was a file in one of the directories and is now
// missing. The paths of the directories are absolute. root is as in [ReadPath].
func GoneFiles(root string, dirs []string) func(origin string) bool {
	byPrefix := map[string]string{} // directories, by the text with which their files' origins begin
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			prefix := path.Join(originBase(filepath.Dir(dir), root), filepath.Base(dir)) + "/"
			byPrefix[prefix] = dir
		}
	}
	return func(origin string) bool {
		for prefix, dir := range byPrefix {
			if below, ok := strings.CutPrefix(origin, prefix); ok {
				_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(below)))
				return errors.Is(err, fs.ErrNotExist)
			}
		}
		return false
	}
}

// IsVault reports whether a directory is a vault of Obsidian, so that the #tags in its notes are tags.
func IsVault(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".obsidian"))
	return err == nil && info.IsDir()
}
