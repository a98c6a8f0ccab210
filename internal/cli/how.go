// This file implements the command "oxbow how", which shows with which commands a task was done in
// past sessions.

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

func howCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "how [TASK]",
		Short: "Show with which commands a task was done in past sessions",
		Long: `How lists the commands that passed in past sessions for TASK: how often they
passed and failed, what was asked for, and the turn of the last success (oxbow
session show SESSION has all of it). TASK is what the command does, in words, or
a part of the command. A command matches if it has the words, or if you or the
agent used them in that turn. Without TASK, the latest commands are listed.

Hooks bring the sessions, see oxbow setup. Codex' hooks report no exit status,
so its commands come when its transcript is read, at the end of a turn.`,
		Example: `  oxbow how run the tests --project auto
  oxbow how 'go test'
  oxbow how deploy --json`,
		Args: argCount(0, -1, "the task"),
	}, review.Hows, func(in *review.HowsIn, _ *flagSet, words []string) (err error) {
		in.Task = strings.Join(words, " ")
		in.Project, err = mem.env.projectNamed(in.Project)
		return err
	})
}
