// This file implements the command "oxbow approve". The command lists the entries that are held back, and lets a
// person approve them.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func approveCommand(mem *lazyMemory) *cobra.Command {
	list := setUpReportCommand(mem, &cobra.Command{Use: "list"}, labels.ListQuarantinedEntries, setPositionalArgs)
	c := setUpReportCommand(mem, &cobra.Command{
		Use:   "approve [NAME…]",
		Short: "List and approve notes that are held back from agents",
		Long: `Agents find every note when they search. oxbow shows a note without a search,
at the start of a session or with a prompt, only if somebody vouches for it, or
if an agent wrote it in a session that reports what the agent reads. All other
notes are held back: text that repeats web pages, mail or other foreign text
(tainted), text that looks like instructions, notes of clients without hooks,
and everything that was imported, loaded or pulled. A tainted text that also
looks like instructions is in quarantine: no search finds it.

Without a NAME, approve lists the notes that are held back, and shows an import
as one group. With names or --group, you approve them. oxbow undo takes an
approval back. In a shell that an agent started, approve is refused.`,
		Example: `  oxbow approve
  oxbow approve --json`,
		Args: requireArgCount(0, -1, "the names of entries"),
	}, labels.ApproveEntries, setPositionalArgs)
	approve := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && !cmd.Flags().Changed("group") {
			return list.RunE(cmd, nil)
		}
		return approve(cmd, args)
	}
	return c
}

// trustWarning is like [verb.TrustWarning], but returns "" if a person reads the output and the entry is only imported
// or unvouched. Otherwise a person would see a warning for each note that they have imported themselves.
func (env *environment) trustWarning(trust oxbow.Trust) string {
	agentVariable, _ := env.detectAgent()
	isHarmless := trust == oxbow.TrustImported || trust == oxbow.TrustUnvouched
	if agentVariable == "" && isHarmless {
		return ""
	}
	return verb.TrustWarning(trust)
}
