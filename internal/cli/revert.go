// This file implements the command "oxbow revert".

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/history/revert"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func (a *app) revertCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "revert",
		Short: "Take back all that a session, a client or a door did",
		Long: `Revert takes back all that the selected changes did, in one new change, which
oxbow undo takes back. What they made goes, what they changed is again what it
would be without them, what they forgot comes back. What others changed on the
same entries since is kept, and listed.

What was derived is listed and stays: entries that name it as their source, were
merged with it, or share six words in a row that were new with it.
--with-derived takes that back, too. What of it was put before models meanwhile
is listed. Several selectors narrow together. Look first with --dry-run.`,
		Example: `  oxbow revert --session 178e33fd --with-derived --dry-run
  oxbow revert --door mcp --since yesterday
  oxbow revert --trust tainted --json`,
		Args: args(0, 0, ""),
	}, history.Revert, positional, a.showReverted)
}

func (a *app) showReverted(out history.RevertOut) {
	if len(out.Changes) == 0 {
		a.showNothing(out.Why, nil)
		return
	}
	if len(out.Steps) > 0 {
		a.printf(
			"%s %s in %s\n",
			wordFor(out.DryRun, "took back", "would take back"),
			count(len(out.Changes), "change", "changes"),
			count(len(out.Steps), "entry", "entries"),
		)
	}
	showFew(a, out.Steps, a.howToListAll(out.DryRun), func(s revert.Step) {
		line := nameText(s.Name)
		if s.To != 0 {
			line += " to version " + seqText(s.To)
		}
		a.printf("  %-8s  %s  %s\n", s.Did, line, a.dim(changesText(s.Took)))
	})
	all := "--json lists them all"
	if !out.DryRun {
		all = "oxbow undo, then the same revert with --dry-run --json, lists them all"
	}
	if len(out.Conflicts) > 0 {
		a.printf("changed by others since:\n")
		showFew(a, out.Conflicts, all, func(c revert.Conflict) {
			a.printf("  %s  %s\n", nameText(c.Name), conflictText(c))
		})
	}
	if len(out.Derived) > 0 {
		a.printf("derived:\n")
		showFew(a, out.Derived, all, func(d revert.Derived) {
			a.printf(
				"  %s  %s@%d from %s (%s)\n",
				map[bool]string{true: wordFor(out.DryRun, "taken back", "goes"), false: "stays"}[d.Taken],
				nameText(d.Name),
				d.Seq,
				nameText(d.From),
				d.How,
			)
		})
	}
	if len(out.Shown) > 0 {
		a.printf("put before models meanwhile:\n")
		showFew(a, out.Shown, all, func(s history.ShownItem) {
			used := map[bool]string{true: " (used)", false: ""}[s.Used]
			a.printf("  %s  %s  %s  %s@%d%s\n", a.date(s.Time), clean(s.Client+"/"+
				text.Cut(s.Session, 13)), s.Place, nameText(s.Name), s.Version, used)
		})
	}
	a.showNotes(out.Notes)
}

// conflictText describes the parts of later changes that were kept.
func conflictText(c revert.Conflict) string {
	switch {
	case c.Reason != "":
		return "kept as it is: " + c.Reason
	case len(c.Kept) == 0:
		return fmt.Sprintf("nothing kept of %s by %s: there was nothing else to it", changesText(c.Later), c.By)
	}
	return fmt.Sprintf("kept %s of %s, the last by %s", strings.Join(c.Kept, ", "), changesText(c.Later), c.By)
}

// changesText lists changes by number, at most ten.
func changesText(seqs []uint64) string {
	var words []string
	for _, s := range seqs[:min(len(seqs), 10)] {
		words = append(words, seqText(s))
	}
	if len(seqs) > 10 {
		words = append(words, "…")
	}
	return map[bool]string{true: "change ", false: "changes "}[len(seqs) == 1] + strings.Join(words, ", ")
}
