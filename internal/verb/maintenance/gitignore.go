// This file writes and checks the .gitignore of a home in a repository.

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

// ignoreLines are the .gitignore lines for files that git must not track. These are all files whose
// names begin with the store's name, tokens, and texts that an editor could not save.
// Annotations, profiles and skills may be shared.
var ignoreLines = []string{"memory.oxbow*", "sessions.oxbow*", "spool/", "redact.key", "token", "unsaved/"}

// ignoredTokenDrafts is the line for the temporary file of a token, which a killed writer may leave.
// Doctor does not require the line, because homes from earlier versions lack it.
const ignoredTokenDrafts = "token.*.tmp"

// WriteGitignore creates the home and its .gitignore, if the home is in a git working tree or in a
// directory that may become one. It does not change an existing .gitignore. Doctor reports which
// lines are missing there.
func WriteGitignore(home string) error {
	if !git.IsInTree(home) && filepath.Base(home) != ".oxbow" {
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
			strings.Join(append(slices.Clone(ignoreLines), ignoredTokenDrafts), "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	return verb.WrapError("writing .gitignore", err)
}

// missingIgnores returns the lines that are missing from a home's .gitignore.
func missingIgnores(home string) []string {
	b, err := os.ReadFile(filepath.Join(home, ".gitignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lines := strings.Fields(string(b))
	if slices.Contains(lines, "*") || slices.Contains(lines, "/*") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ignoreLines), func(i string) bool {
		return slices.Contains(lines, i) || slices.Contains(lines, "/"+i)
	})
}
