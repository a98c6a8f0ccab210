// oxbow label add, remove, rename, merge.

package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) labelAddCommand() *cobra.Command {
	return a.labelSelected(&cobra.Command{
		Use:   "add LABEL…",
		Short: "Give labels to the entries that a filter selects, or that are named",
		Long: `Add gives every LABEL to the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`,
		Example: `  oxbow label add tag:cli --where "project:oxbow has:file" --dry-run
  oxbow label add project:vtt tag:map --name "grid size" --name "hex maps"
  oxbow label add tag:imported --all`,
	}, tool.AddLabels)
}

func (a *app) labelRemoveCommand() *cobra.Command {
	return a.labelSelected(&cobra.Command{
		Use:     "remove LABEL…",
		Aliases: []string{"rm"},
		Short:   "Take labels from the entries that a filter selects, or that are named",
		Long: `Remove takes every LABEL from the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`,
		Example: `  oxbow label remove tag:draft --where "before:2026-01" --dry-run
  oxbow label remove tag:wip --all`,
	}, tool.RemoveLabels)
}

// labelSelected makes c change the labels of selected entries.
func (a *app) labelSelected(c *cobra.Command, verb call[tool.EditLabelsIn, tool.RelabelOut]) *cobra.Command {
	c.Args = args(1, -1, "a LABEL such as tag:decision")
	return does(a, c, labelVerb(verb), func(in *tool.EditLabelsIn, _ *flagSet, args []string) error {
		in.Labels = args
		chosen := len(in.Where) > 0 || len(in.Names) > 0
		switch {
		case !chosen && !in.All:
			return misusef("say which with --where FILTER or --name NAME, or give --all", "it is not said which entries are meant")
		case chosen && in.All:
			return misusef("leave out --all, or the rest", "--all is given beside --where or --name")
		}
		return nil
	}, a.showRelabelled)
}

func (a *app) labelRenameCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Give a label another value or key, on every entry that carries it",
		Long: `Rename puts the label NEW in the place of OLD on every entry. A label that is in
use already is refused, because the two could not be told apart afterwards:
oxbow label merge joins them.`,
		Example: `  oxbow label rename tag:decison tag:decision
  oxbow label rename tag:vtt project:vtt --dry-run`,
		Args: args(2, 2, "an OLD and a NEW label"),
	}, labelVerb(tool.RenameLabel), func(in *tool.RenameLabelIn, _ *flagSet, args []string) error {
		in.Old, in.New = args[0], args[1]
		return nil
	}, a.showRelabelled)
}

func (a *app) labelMergeCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "merge LABEL… INTO",
		Short: "Join labels into one, on every entry that carries one of them",
		Long: `Merge puts the last label in the place of all that stand before it, on every
entry. The last may be one of them, or new.`,
		Example: `  oxbow label merge project:VTT project:homebrew-vtt
  oxbow label merge tag:idea tag:ideas tag:thought tag:idea --dry-run`,
		Args: args(2, -1, "the labels to join, and the one that they become"),
	}, labelVerb(tool.MergeLabels), func(in *tool.MergeLabelsIn, _ *flagSet, args []string) error {
		in.Labels, in.Into = args[:len(args)-1], args[len(args)-1]
		return nil
	}, a.showRelabelled)
}

// labelVerb makes the verb say how a label is written.
func labelVerb[In, Out any](verb call[In, Out]) call[In, Out] {
	return func(ctx context.Context, w *tool.Workspace, in In) (Out, error) {
		out, err := verb(ctx, w, in)
		if e, ok := errors.AsType[*tool.LabelError](err); ok {
			err = &misuse{e.Err, "a label is a key, a colon and a value, such as tag:decision"}
		}
		return out, err
	}
}

func (a *app) showRelabelled(out tool.RelabelOut) {
	did := "relabelled"
	if out.DryRun {
		did = "would relabel"
	}
	a.printf("%s %s\n", did, count(len(out.Entries), "entry", "entries"))
	if !a.quiet {
		for _, e := range out.Entries {
			line := "  " + a.bold(nameText(e.Name))
			for _, l := range e.Removed {
				line += "  -" + clean(l)
			}
			for _, l := range e.Added {
				line += "  +" + clean(l)
			}
			a.printf("%s\n", line)
		}
	}
	switch {
	case len(out.Entries) == 0:
		a.note("every entry that was meant has these labels already, or none was meant")
	case out.DryRun:
		a.note("dry run: nothing was changed")
	case out.Seq != 0 && a.foreign:
		a.note("this layout keeps no history: oxbow undo cannot take this back")
	case out.Seq != 0:
		a.note("to take this back: oxbow undo --seq %d", out.Seq)
	}
}
