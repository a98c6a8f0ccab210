// This file implements the command "oxbow handoff", which passes a task from one session to the next.

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

func handoffCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "handoff",
		Short: "Leave a task to the next session",
		Long: `A handoff leaves a task to the next session. It says what was done, what is to
be done, which files to read first, and which memory profile and skills to
load. A handoff can be taken only once.`,
		Example: `  oxbow handoff new "The grid is done." --plan "Walls next." --read map.go
  oxbow handoff list
  oxbow handoff take`,
	})
	c.AddCommand(handoffNewCommand(mem), handoffListCommand(mem), handoffShowCommand(mem),
		handoffTakeCommand(mem), handoffDropCommand(mem))
	return c
}

func handoffNewCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "new [SUMMARY]",
		Short: "Leave a task to the next session",
		Long: `New stores a handoff. --project auto adds the project of the working directory.
If an equal handoff is already open, nothing is stored. With --session, the
handoff has the record of an archived session: its goal, last prompt,
conclusions, open items, files and commands. The SUMMARY is then optional.`,
		Example: `  oxbow handoff new "The grid is done." --plan "Walls next." \
    --read pkg/map.go --skill senior-developer --profile vtt --project auto
  oxbow handoff new "Go on with this." --session 178e33fd`,
		Args: requireArgCount(0, 1, "at most one SUMMARY"),
	}, verb.StoreHandoff, func(in *verb.HandoffTaskIn, _ *flagSet, args []string) (err error) {
		if len(args) > 0 {
			in.Summary = args[0]
		} else if in.Session == "" {
			return usageErrorf(`oxbow handoff new "What was done."`, "a SUMMARY is missing")
		}
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}

func handoffListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the open handoffs, the newest first",
		Example: "  oxbow handoff list --all",
	}, verb.ListHandoffs, func(in *verb.HandoffsIn, _ *flagSet, _ []string) (err error) {
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}

func handoffShowCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the newest open handoff, or a named one, without taking it",
		Long: `Show prints a handoff without taking it. With --session, it prints what the
session gets after a compaction.`,
		Example: `  oxbow handoff show
  oxbow handoff show "handoff: The grid is done."
  oxbow handoff show --session 178e33fd`,
		Args: requireArgCount(0, 1, "at most one NAME"),
	}, showHandoff, func(in *showHandoffIn, _ *flagSet, args []string) error {
		if len(args) > 0 {
			in.Name = args[0]
		}
		if in.Name != "" && in.Session != "" {
			return usageErrorf("leave one of them out", "a NAME and --session are given")
		}
		return nil
	})
}

// showHandoffIn contains the arguments of oxbow handoff show.
type showHandoffIn struct {
	verb.ShowHandoffIn
	Session string `json:"session,omitempty" value:"SESSION" usage:"show the record of this SESSION, which it gets after a compaction"`
}

func showHandoff(ctx context.Context, w *verb.Workspace, in showHandoffIn) (verb.HandoffOut, error) {
	if in.Session != "" {
		return verb.ShowSessionRecord(ctx, w, verb.ShowSessionRecordIn{Session: in.Session})
	}
	return verb.ShowHandoff(ctx, w, in.ShowHandoffIn)
}

func handoffTakeCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "take [NAME]",
		Short: "Take the newest open handoff, or a named one",
		Long: `Take prints a handoff and marks it as taken, so that no other session gets it.
It also prints the handoff's skills and the entries that its profile selects,
and says which of its files exist. If no handoff is open, take prints nothing
and succeeds, so you can run it at the start of every session. If you took a
handoff by mistake, oxbow undo opens it again.`,
		Example: `  oxbow handoff take
  oxbow handoff take --project auto`,
		Args: requireArgCount(0, 1, "at most one NAME"),
	}, verb.TakeHandoff, func(in *verb.TakeHandoffIn, _ *flagSet, args []string) (err error) {
		if len(args) > 0 {
			in.Name = args[0]
			if in.Project != "" {
				return usageErrorf("leave one of them out", "a NAME and --project are given")
			}
			if in.Name == "" {
				return usageErrorf("leave it out to take the newest", "the name is empty")
			}
		}
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
}

func handoffDropCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "drop NAME",
		Short:   "Forget a handoff, open or taken",
		Example: `  oxbow handoff drop "handoff: The grid is done."`,
		Args:    requireArgCount(1, 1, "the NAME of a handoff"),
	}, verb.DropHandoff, setPositionalArgs)
}
