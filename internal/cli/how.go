// This file implements the command "oxbow how", which shows the commands with which a task was done in past sessions.

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

func howCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "how [TASK]",
		Short: "Show the commands that did a task in past sessions",
		Long: `How lists the commands that passed for TASK in past sessions: how often they
passed and failed, your request, and the turn of the last success (oxbow
session show SESSION shows the whole session). TASK describes the task in
words, or is a part of the command. A command matches if it contains the words,
or if you or the agent used them in its turn. Without TASK, how lists the
latest commands.

Hooks report the sessions (see oxbow setup). The hooks of Codex report no exit
status, so the commands of Codex are listed only after its transcript was read,
at the end of a turn.`,
		Example: `  oxbow how run the tests --project auto
  oxbow how 'go test'
  oxbow how deploy --json`,
		Args: requireArgCount(0, -1, "the task"),
	}, review.FindCommands, func(in *review.FindCommandsIn, _ *flagSet, words []string) (err error) {
		in.Task = strings.Join(words, " ")
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}
