// This file writes and checks the file .gitignore of a home in a git repository.

package maintenance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// gitignoreLines are the lines of .gitignore for files that git must not track: all files whose names begin with the
// store's or the archive's name, keys and tokens, and texts that an editor could not save. Annotations, profiles and
// skills may be tracked.
var gitignoreLines = []string{"memory.oxbow*", "sessions.oxbow*", "spool/", "redact.key", "token", "unsaved/"}

// tokenTempFilePattern is a line that a new .gitignore gets for the temporary file of a token. A killed process may
// leave this file. The command "doctor" accepts a .gitignore without this line, because a home from an earlier version
// has such a .gitignore.
const tokenTempFilePattern = "token.*.tmp"

// WriteGitignore creates the directory home and a .gitignore file in it. It does nothing if home is outside a git
// working tree and is not named .oxbow. A directory named .oxbow always gets the file, because the directory may become
// part of a working tree later. WriteGitignore does not change an existing .gitignore, but the command oxbow doctor
// reports missing lines.
func WriteGitignore(home string) error {
	if !git.IsInWorktree(home) && filepath.Base(home) != ".oxbow" {
		return nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return verb.WrapError("making the home", err)
	}
	f, err := os.OpenFile(filepath.Join(home, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("# What oxbow keeps for you alone.\n" +
			strings.Join(append(slices.Clone(gitignoreLines), tokenTempFilePattern), "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	return verb.WrapError("writing .gitignore", err)
}

// missingIgnoreLines returns the gitignoreLines that the .gitignore of a home does not contain.
func missingIgnoreLines(home string) []string {
	b, err := os.ReadFile(filepath.Join(home, ".gitignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lines := strings.Fields(string(b))
	if slices.Contains(lines, "*") || slices.Contains(lines, "/*") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(gitignoreLines), func(i string) bool {
		return slices.Contains(lines, i) || slices.Contains(lines, "/"+i)
	})
}
