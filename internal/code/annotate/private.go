// This file hides annotations from git until a person shares them.

package annotate

import (
	"bytes"
	"errors"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow/vfs"
)

// gitignoreText is the content of .gitignore in the annotations directory.
const gitignoreText = "# made by oxbow: the lock is of this machine only\n.lock\n*.tmp\n"

// privateGitignoreLines are added to .gitignore while the annotations are private.
const privateGitignoreLines = "# kept out of git until oxbow annotate setup\n*\n"

// maxGitignoreBytes is the maximum size, in bytes, of a .gitignore file that the store reads.
const maxGitignoreBytes = 1 << 20

// KeepNewDirPrivate makes the annotations private if the tree has no annotations yet. When the first annotation is
// added, the store tells git to ignore the annotations. git ignores them until [Store.MakePublic] is called. If the
// tree already has annotations, KeepNewDirPrivate has no effect. Call KeepNewDirPrivate before any other method of the
// store.
func (b *Store) KeepNewDirPrivate() { b.shouldStartPrivate = true }

// IsPrivate reports whether git ignores the tree's annotations because of [Store.KeepNewDirPrivate].
func (b *Store) IsPrivate() bool {
	text, err := vfs.ReadFile(b.worktree, b.gitignorePath(), maxGitignoreBytes)
	return err == nil && bytes.Contains(text, []byte(privateGitignoreLines))
}

// MakePublic lets git see private annotations again. It only acts on private annotations.
func (b *Store) MakePublic() error {
	text, err := vfs.ReadFile(b.worktree, b.gitignorePath(), maxGitignoreBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !bytes.Contains(text, []byte(privateGitignoreLines)) {
		return err
	}
	return vfs.WriteFile(
		b.worktree,
		b.gitignorePath(),
		bytes.Replace(text, []byte(privateGitignoreLines), nil, 1),
		0o644,
	)
}

func (b *Store) gitignorePath() string { return path.Join(b.sidecarDir, ".gitignore") }
