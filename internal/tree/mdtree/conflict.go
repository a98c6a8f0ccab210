// This file implements conflict copies. If the text that another program wrote to a file cannot be merged, the text is
// kept in a conflict copy, which is a file next to the original file.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxConflictCopies is the maximum number of conflict copies for a file.
const maxConflictCopies = 10_000

// IsConflictCopy reports whether the path belongs to a conflict copy, such as note.conflict-1.md.
// Conflict copies are not read as entries.
func IsConflictCopy(filePath string) bool {
	base := strings.TrimSuffix(path.Base(filePath), path.Ext(filePath))
	i := strings.LastIndex(base, ".conflict-")
	if i < 0 {
		return false
	}
	n := base[i+len(".conflict-"):]
	return n != "" && strings.Trim(n, "0123456789") == ""
}

// conflictCopyName returns an unused file name for a conflict copy of the file filePath. The name is neither the name
// of an existing file nor a key of takenNames. If filePath already has maxConflictCopies copies, conflictCopyName
// returns an error.
func conflictCopyName(fsys vfs.FS, filePath string, takenNames map[string]bool) (string, error) {
	ext := path.Ext(filePath)
	for n := 1; n <= maxConflictCopies; n++ {
		name := fmt.Sprintf("%s.conflict-%d%s", strings.TrimSuffix(filePath, ext), n, ext)
		if takenNames[name] {
			continue
		}
		if _, err := fsys.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil && !errors.Is(err, fs.ErrPermission) {
			return "", err
		}
	}
	return "", fmt.Errorf(
		"%s has %d conflict copies: look at them, and remove those that are done with",
		filePath,
		maxConflictCopies,
	)
}
