// This file implements the command "oxbow fix", which shows how errors were fixed in past
// sessions.

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

func fixCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "fix [ERROR]",
		Short: "Show what mended an error in a past session",
		Long: `Fix lists what agents did between a command that failed and the same command
passing: the error, the files that changed, what the agent said of the cause,
and the turn in which it happened (oxbow session show SESSION has all of it).
ERROR is a line that a command printed, or a part of one; paths and numbers in
it may differ.

Hooks bring the sessions, see oxbow setup. Before an agent edits a file just
after the same error, it is told of the fix.`,
		Example: `  oxbow fix
  oxbow fix 'main.go:12:3: undefined: Frob'
  oxbow fix undefined --project auto --json`,
		Args: argCount(0, -1, "the error"),
	}, review.Fixes, func(in *review.FixesIn, _ *flagSet, words []string) (err error) {
		in.Error = strings.Join(words, " ")
		in.Project, err = mem.env.projectNamed(in.Project)
		return err
	})
}
