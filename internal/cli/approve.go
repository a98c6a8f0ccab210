// This file implements the command "oxbow approve", which lists entries that are held back and
// lets a person approve them.

package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func (a *app) approveCommand() *cobra.Command {
	list := does(a, &cobra.Command{Use: "list"}, labels.Held, positional, a.showHeld)
	c := does(a, &cobra.Command{
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
		Args: args(0, -1, "the names of entries"),
	}, labels.Approve, positional, a.showRelabelled)
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
func (a *app) warning(t oxbow.Trust) string {
	isByAgent, _ := a.env.startedBy()
	if isByAgent == "" && (t == oxbow.TrustImported || t == oxbow.TrustUnvouched) {
		return ""
	}
	return verb.Warning(t)
}

// heldBack says how many entries of an import are held back, and how to approve them.
func heldBack(n int, group string) string {
	command := "oxbow approve"
	if group != "" {
		command += " --group " + group
	}
	return count(n, "entry waits", "entries wait") + " for your approval: " + command
}

func (a *app) showHeld(out labels.HeldOut) {
	for _, e := range out.Entries {
		if a.quiet {
			a.printf("%s\n", nameText(e.Name))
			continue
		}
		why := []string{e.Trust}
		if len(e.Read) > 0 {
			why = append(why, "words of "+strings.Join(e.Read, "; "))
		}
		if len(e.Unknown) > 0 {
			why = append(why, "not vouched for: "+strings.Join(e.Unknown, ", "))
		}
		if len(e.Shaped) > 0 {
			why = append(why, "shaped like instructions: "+strings.Join(e.Shaped, ", "))
		}
		a.printf("%s  %s\n", a.bold(nameText(e.Name)), clean(strings.Join(why, ", ")))
		for _, s := range slices.Concat(e.Aliases, e.Labels) {
			a.hang("  ", clean(s))
		}
		a.hang("  | ", clean(e.Content))
	}
	for _, g := range out.Groups {
		if a.quiet {
			a.printf("%s\n", g.ID)
			continue
		}
		from := "imported"
		if g.From != "" {
			from += " from " + clean(g.From)
		}
		a.printf("%s  %s %s, %s\n", a.bold(g.ID), count(g.Count, "entry", "entries"), from, clean(g.Time))
		a.hang("  | ", clean(strings.Join(g.Names, "; ")))
	}
	if len(out.Groups) > 0 {
		a.note("to approve all that an import brought: oxbow approve --group %s", out.Groups[0].ID)
	}
	if len(out.Entries) == 0 {
		if len(out.Groups) == 0 {
			a.note("nothing is held back")
		}
		return
	}
	a.note("oxbow approve NAME lets one be shown; oxbow forget NAME removes it")
}
