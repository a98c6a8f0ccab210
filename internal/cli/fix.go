// This file implements the command "oxbow fix", which shows how an error was fixed in past sessions.

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

func fixCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "fix [ERROR]",
		Short: "Show how an error was repaired in a past session",
		Long: `Fix lists how agents repaired errors: a command failed, the agent changed
files, and the same command passed. For each fix it shows the error, the
changed files, the agent's words about the cause, and the turn (oxbow session
show SESSION shows the whole session). ERROR is a line that a command printed,
or a part of it. Paths and numbers may differ.

Hooks report the sessions (see oxbow setup). If the same error occurs again,
the agent is told about the fix before its next edit.`,
		Example: `  oxbow fix
  oxbow fix 'main.go:12:3: undefined: Frob'
  oxbow fix undefined --project auto --json`,
		Args: requireArgCount(0, -1, "the error"),
	}, review.ListFixes, func(in *review.ListFixesIn, _ *flagSet, words []string) (err error) {
		in.Error = strings.Join(words, " ")
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}
