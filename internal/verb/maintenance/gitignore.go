// The .gitignore of a home in a repository.

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

// ignores leave out of git what is not for others: the store, with all files that
// begin with its name, tokens, and what an editor could not save. Annotations,
// profiles and skills may be shared.
var ignores = []string{"memory.oxbow*", "sessions.oxbow*", "spool/", "redact.key", "token", "unsaved/"}

// ignoredDrafts leaves out the temporary file of a token, which a killed writer leaves. Homes of
// earlier versions are not asked to have it.
const ignoredDrafts = "token.*.tmp"

// WriteGitignore makes the .gitignore of a home in a working tree of git, or in a
// directory that may become one, and the home. One that is there is left as it is:
// doctor says what it lacks.
func WriteGitignore(home string) error {
	if !git.InTree(home) && filepath.Base(home) != ".oxbow" {
		return nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return verb.Wrapped("making the home", err)
	}
	f, err := os.OpenFile(filepath.Join(home, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString("# What oxbow keeps for you alone.\n" +
			strings.Join(append(slices.Clone(ignores), ignoredDrafts), "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	return verb.Wrapped("writing .gitignore", err)
}

// missingIgnores returns what a home's own .gitignore does not leave out.
func missingIgnores(home string) []string {
	b, err := os.ReadFile(filepath.Join(home, ".gitignore"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lines := strings.Fields(string(b))
	if slices.Contains(lines, "*") || slices.Contains(lines, "/*") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ignores), func(i string) bool {
		return slices.Contains(lines, i) || slices.Contains(lines, "/"+i)
	})
}
