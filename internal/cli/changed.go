// This file implements the command "oxbow changed", and the notice of other commands that agents
// changed a person's text.

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb/review"
)

const (
	noticedEntries = 3  // entries in a notice
	noticedLines   = 8  // lines of a difference in a notice
	listedLines    = 60 // lines of a difference in oxbow changed
)

func (a *app) changedCommand() *cobra.Command {
	c := does(a, &cobra.Command{
		Use:   "changed",
		Short: "Show which of your notes agents changed, and keep or restore them",
		Long: `Changed lists the entries whose text you wrote and an agent changed or forgot
since, or whose label pinned or process it set or took off. For each it shows
the difference, the agent and its session, and the change to go back to.

An entry is listed until you keep the agent's change or restore your text, or
write the entry anew. Imports and pulls count neither as yours nor as an
agent's, unless an agent made them. What a compaction dropped is not listed.`,
		Example: `  oxbow changed
  oxbow changed --json
  oxbow changed --name deploy
  oxbow changed restore --all --dry-run`,
		Args: args(0, 0, "no arguments, or keep or restore"),
	}, review.Changed, positional, a.showAllChanged)
	c.AddCommand(
		does(a, &cobra.Command{
			Use:   "keep NAME…",
			Short: "Keep what agents made of your notes",
			Long: `Keep makes the text as it is now yours: the entry is no longer listed, until an
agent changes it again. oxbow undo takes that back. A shell that a client's
agent started keeps nothing.`,
			Example: `  oxbow changed keep --all --dry-run`,
			Args:    args(0, -1, "the names of entries, or --all"),
		}, review.KeepChanged, positional, func(out review.DecideChangedOut) { a.showReport(out.KeptReport()) }),
		does(a, &cobra.Command{
			Use:   "restore NAME…",
			Short: "Bring back your text of notes that agents changed",
			Long: `Restore brings back the text as you left it, with its aliases and labels. Labels
that you changed since the agent's change stay. oxbow undo takes it back.`,
			Example: `  oxbow changed restore --all --dry-run`,
			Args:    args(0, -1, "the names of entries, or --all"),
		}, review.RestoreChanged, positional, func(out review.DecideChangedOut) { a.showReport(out.RestoredReport()) }))
	return c
}

func (a *app) showAllChanged(out review.ChangedOut) {
	for i := range out.Entries {
		if a.quiet {
			a.printf("%s\n", nameText(out.Entries[i].Name))
			continue
		}
		for _, line := range a.changedLines(&out.Entries[i], listedLines) {
			a.printf("%s\n", line)
		}
	}
	a.showNotes(out.Notes)
	switch {
	case out.Total == 0:
		a.note("agents changed none of your notes")
	case out.More:
		a.note("%d of %d are listed; for more: --limit %d", len(out.Entries), out.Total, min(out.Total, oxbow.MaxLimit))
	}
}

// changedLines describes an entry that agents changed: the author, the difference in up to maxLines
// lines, and the commands with which the person decides.
func (a *app) changedLines(e *review.ChangedEntry, maxLines int) []string {
	by := cmp.Or(e.Source.Agent, e.Source.Client, "an agent")
	if e.Session != "" {
		_, id, _ := strings.Cut(e.Session, "/")
		by += " (session " + id + ")"
	}
	what := map[string]string{
		review.EntryChanged: "changed", review.EntryForgotten: "forgotten", review.EntryRelabelled: "relabelled",
		review.EntryRenamed: "renamed to " + nameText(e.Now),
	}[e.What]
	lines := []string{
		fmt.Sprintf(
			"%s  %s by %s, %s, change %d",
			a.bold(nameText(e.Name)),
			what,
			clean(by),
			a.date(moment(e.Time)),
			e.Seq,
		),
	}
	for _, l := range e.LabelsRemoved {
		lines = append(lines, "  - "+clean(l))
	}
	for _, l := range e.LabelsAdded {
		lines = append(lines, "  + "+clean(l))
	}
	for _, l := range e.AliasesRemoved {
		lines = append(lines, "  - alias "+clean(l))
	}
	if e.What == review.EntryChanged || e.What == review.EntryForgotten {
		lines = append(lines, differenceLines(e.Own, e.Text, maxLines, a.width()-4)...)
	}
	name := quoteName(e.Name)
	ways := "  keep it: oxbow changed keep " + name + "; bring yours back: oxbow changed restore " + name
	return append(lines, a.asTyped(ways))
}

// differenceLines returns the changed lines of two texts. If there are more than maxLines lines, it
// returns the first ones and a line with the number of lines left out.
func differenceLines(before, after string, maxLines, width int) (lines []string) {
	left := 0
	for mark, line := range diff.Changes(before, after) {
		if mark == ' ' {
			continue
		}
		if len(lines) == maxLines {
			left++
			continue
		}
		lines = append(lines, "  "+string(mark)+" "+text.Clip(oneLine(clean(line)), max(width, 20)))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("    … and %s more", count(left, "line", "lines")))
	}
	return lines
}

// tellsChanged makes c print the notice of tellChanged after it succeeded.
func (a *app) tellsChanged(c *cobra.Command) {
	show := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := show(cmd, args); err != nil {
			return err
		}
		a.tellChanged(cmd.Context())
		return nil
	}
}

// tellChanged prints a notice on standard error if agents changed texts of the person. It prints
// nothing in a run that an agent started, or if --json or --quiet is set. It ignores errors,
// because commands that use the memory report them.
func (a *app) tellChanged(ctx context.Context) {
	if variable, _ := a.env.startedBy(); variable != "" || a.json || a.quiet {
		return
	}
	if path, err := a.storePath(); err != nil || !exists(path) {
		return
	}
	if foreign, err := a.isForeign(); err != nil || foreign {
		return
	}
	limit := noticedEntries
	out, err := run(ctx, a, review.Changed, review.ChangedIn{Limit: &limit})
	if err != nil || out.Total == 0 {
		return
	}
	fmt.Fprintf(a.env.Stderr, "oxbow: agents changed %s\n", count(out.Total, "of your notes", "of your notes"))
	for i := range out.Entries {
		for _, line := range a.changedLines(&out.Entries[i], noticedLines) {
			fmt.Fprintf(a.env.Stderr, "  %s\n", line)
		}
	}
	if out.More {
		fmt.Fprintf(a.env.Stderr, "%s\n", a.asTyped("  all of them: oxbow changed"))
	}
}
