// Conflict copies: files next to a file, with what another program wrote to it and
// could not be merged.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxCopies is the most conflict copies of one file.
const maxCopies = 10_000

// IsConflict reports whether a path is that of a conflict copy, such as
// note.conflict-1.md. Such a file holds no entries.
func IsConflict(p string) bool {
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	i := strings.LastIndex(base, ".conflict-")
	if i < 0 {
		return false
	}
	n := base[i+len(".conflict-"):]
	return n != "" && strings.Trim(n, "0123456789") == ""
}

// conflictName returns an unused name for a conflict copy of a file, and none of
// those taken.
func conflictName(fsys vfs.FS, p string, taken map[string]bool) (string, error) {
	ext := path.Ext(p)
	for n := 1; n <= maxCopies; n++ {
		name := fmt.Sprintf("%s.conflict-%d%s", strings.TrimSuffix(p, ext), n, ext)
		if taken[name] {
			continue
		}
		if _, err := fsys.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s has %d conflict copies: look at them, and remove those that are done with", p, maxCopies)
}
