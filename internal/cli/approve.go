// This file implements the command "oxbow approve", which lists entries that are held back and
// lets a person approve them.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func approveCommand(mem *openMemory) *cobra.Command {
	list := setUpReport(mem, &cobra.Command{Use: "list"}, labels.Held, positional)
	c := setUpReport(mem, &cobra.Command{
		Use:   "approve [NAME…]",
		Short: "Show what is held back from agents, and let it be shown",
		Long: `Agents find every note when they search. What may come up by itself, at the
start of a session or with a prompt, is only what somebody vouches for, or what
an agent wrote whose client reports what it read. Held back are: text that
shares words with web pages, mail or other foreign text (tainted), text shaped
like instructions, notes of clients that report nothing, and everything that
was imported, loaded or pulled. A tainted text that is also shaped like
instructions is in quarantine: no search finds it.

Without a NAME, approve lists what is held back; an import is one group. With
names or --group you say that these may come up. oxbow undo takes that back. A
shell that an agent started approves nothing.`,
		Example: `  oxbow approve
  oxbow approve --json`,
		Args: argCount(0, -1, "the names of entries"),
	}, labels.Approve, positional)
	approve := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && !cmd.Flags().Changed("group") {
			return list.RunE(cmd, nil)
		}
		return approve(cmd, args)
	}
	return c
}

// warning is like [verb.Warning], but returns "" if a person reads the output and the entry is
// only imported or unvouched. Otherwise people would see a warning for each note of their own
// import.
func (env *environment) warning(trust oxbow.Trust) string {
	isByAgent, _ := env.startedBy()
	if isByAgent == "" && (trust == oxbow.TrustImported || trust == oxbow.TrustUnvouched) {
		return ""
	}
	return verb.Warning(trust)
}
