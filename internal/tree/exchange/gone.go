// This file finds files that were deleted or renamed since an import, and recognizes vaults of Obsidian.

package exchange

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// NewMissingFileCheck returns a function that reports whether the file from which an entry was imported no longer
// exists. The function's argument origin is the path of this file. The function returns true only if the file was in
// one of the directories dirs, and if that directory existed when NewMissingFileCheck was called. The paths in dirs are
// absolute. For the argument root, see [ReadPath].
func NewMissingFileCheck(root string, dirs []string) func(origin string) bool {
	// Directories of dirs that exist, by path prefix. An entry belongs to a directory if its origin (the path of the
	// imported file) begins with the prefix.
	byPrefix := map[string]string{}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			prefix := path.Join(originPathPrefix(filepath.Dir(dir), root), filepath.Base(dir)) + "/"
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

// IsObsidianVault reports whether a directory is an Obsidian vault. In the notes of a vault, a word such as #idea in
// the text is a tag.
func IsObsidianVault(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, ".obsidian"))
	return err == nil && info.IsDir()
}
