// This file implements the command "oxbow label", with the subcommands list, add, remove, rename,
// merge, lint, suggest and project.

package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func labelCommand(mem *openMemory) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "label",
		Short: "List, change, check and propose the labels of many entries at once",
		Long: `Label looks after the labels that recall, list and profiles select by: project,
tag, file, confidence, and any key of your own. A label is written key:value.
Every change has a preview, --dry-run, and is one change of the memory: one
oxbow undo takes all of it back.`,
		Example: `  oxbow label list
  oxbow label add project:vtt --where "file:pkg/vtt/map.go"
  oxbow label rename tag:decison tag:decision
  oxbow label suggest`,
	})
	c.AddCommand(labelListCommand(mem), labelAddCommand(mem), labelRemoveCommand(mem),
		labelRenameCommand(mem), labelMergeCommand(mem), labelLintCommand(mem), labelSuggestCommand(mem),
		labelProjectCommand(mem.env))
	return c
}

func labelListCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List the labels, each with its number of entries",
		Example: `  oxbow label list
  oxbow label list --key project
  oxbow label list after:2026-04 kind:note`,
	}, labels.Labels, func(in *labels.LabelsIn, _ *flagSet, args []string) error {
		in.Filter = strings.Join(args, " ")
		return nil
	})
}

func labelAddCommand(mem *openMemory) *cobra.Command {
	return mem.labelSelected(&cobra.Command{
		Use:   "add LABEL…",
		Short: "Give labels to entries, by filter or by name",
		Long: `Add gives every LABEL to the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`,
		Example: `  oxbow label add tag:cli --where "project:oxbow has:file" --dry-run
  oxbow label add project:vtt tag:map --name "grid size" --name "hex maps"
  oxbow label add tag:imported --all`,
	}, labels.AddLabels)
}

func labelRemoveCommand(mem *openMemory) *cobra.Command {
	return mem.labelSelected(&cobra.Command{
		Use:     "remove LABEL…",
		Aliases: []string{"rm"},
		Short:   "Take labels from entries, by filter or by name",
		Long: `Remove takes every LABEL from the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`,
		Example: `  oxbow label remove tag:draft --where "before:2026-01" --dry-run
  oxbow label remove tag:wip --all`,
	}, labels.RemoveLabels)
}

// labelSelected makes c change the labels of selected entries.
func (mem *openMemory) labelSelected(
	c *cobra.Command,
	verbCall call[labels.EditLabelsIn, labels.RelabelOut],
) *cobra.Command {
	c.Args = argCount(1, -1, "a LABEL such as tag:decision")
	return setUpReport(mem, c, labelVerb(verbCall), func(in *labels.EditLabelsIn, _ *flagSet, args []string) error {
		in.Labels = args
		chosen := len(in.Where) > 0 || len(in.Names) > 0
		switch {
		case !chosen && !in.All:
			return misusef(
				"say which with --where FILTER or --name NAME, or give --all",
				"it is not said which entries are meant",
			)
		case chosen && in.All:
			return misusef("leave out --all, or the rest", "--all is given beside --where or --name")
		}
		return nil
	})
}

func labelRenameCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Give a label another value or key, on every entry that carries it",
		Long: `Rename puts the label NEW in the place of OLD on every entry. A label that is in
use already is refused, because the two could not be told apart afterwards:
oxbow label merge joins them.`,
		Example: `  oxbow label rename tag:decison tag:decision
  oxbow label rename tag:vtt project:vtt --dry-run`,
		Args: argCount(2, 2, "an OLD and a NEW label"),
	}, labelVerb(labels.RenameLabel), positional)
}

func labelMergeCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "merge LABEL… INTO",
		Short: "Join labels into one, on every entry that carries one of them",
		Long: `Merge puts the last label in the place of all that stand before it, on every
entry. The last may be one of them, or new.`,
		Example: `  oxbow label merge project:VTT project:homebrew-vtt
  oxbow label merge tag:idea tag:ideas tag:thought tag:idea --dry-run`,
		Args: argCount(2, -1, "the labels to join, and the one that they become"),
	}, labelVerb(labels.MergeLabels), func(in *labels.MergeLabelsIn, _ *flagSet, args []string) error {
		in.Labels, in.Into = args[:len(args)-1], args[len(args)-1]
		return nil
	})
}

// labelVerb wraps a verb so that an error about a label explains the format of labels.
func labelVerb[In, Out any](verbCall call[In, Out]) call[In, Out] {
	return func(ctx context.Context, w *verb.Workspace, in In) (Out, error) {
		out, err := verbCall(ctx, w, in)
		if e, ok := errors.AsType[*labels.LabelError](err); ok {
			err = &misuse{e.Err, "a label is a key, a colon and a value, such as tag:decision"}
		}
		return out, err
	}
}

func labelLintCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "lint",
		Short: "Point out labels that were perhaps meant to be one",
		Long: `Lint finds labels that differ in capitals, accents or the marks between words
only, in a plural, in the owner before a project's name, or in one typing error,
and words that are a project and a tag. It says the command that joins them and
changes nothing.`,
		Example: `  oxbow label lint
  oxbow label lint --json`,
	}, labels.LintLabels, positional)
}

func labelSuggestCommand(mem *openMemory) *cobra.Command {
	var in labels.SuggestLabelsIn
	apply := false
	c := &cobra.Command{
		Use:   "suggest [FILTER…]",
		Short: "Propose labels for entries that have none, with reasons",
		Long: `Suggest proposes a project and tags for the entries that have none: what the
labelled entries most like them carry, and what their text names. How sure it is
is measured on your own labelled entries: of proposals with confidence 0.8, four
of five or more should be right. It changes nothing without --apply, and what it
applied, one oxbow undo takes back.`,
		Example: `  oxbow label suggest
  oxbow label suggest kind:journal before:2026-01 --key project
  oxbow label suggest --apply --min-confidence 0.8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Filter = strings.Join(args, " ")
			if !(in.MinConfidence > 0 && in.MinConfidence <= 1) {
				return misusef(
					"write a number such as 0.8",
					"--min-confidence %v is not above 0 and at most 1",
					in.MinConfidence,
				)
			}
			if apply {
				return respond(cmd.Context(), mem, labels.AcceptLabels, in)
			}
			again := "oxbow label suggest"
			for _, w := range args {
				again += " " + quote(w)
			}
			for _, name := range []string{"key", "min-confidence"} {
				if f := cmd.Flags().Lookup(name); f.Changed {
					again += " --" + name + " " + quote(strings.Trim(f.Value.String(), "[]"))
				}
			}
			return perform(cmd.Context(), mem, labels.SuggestLabels, in, func(out labels.SuggestLabelsOut) {
				mem.env.showReport(out.Report(again))
			})
		},
	}
	c.Flags().StringSliceVar(
		&in.Keys,
		"key",
		[]string{oxbow.LabelProject, oxbow.LabelTag},
		"propose labels of this `KEY`",
	)
	c.Flags().Float64Var(&in.MinConfidence, "min-confidence", 0.5, "leave out what is less sure than `N`, from 0 to 1")
	c.Flags().BoolVar(&apply, "apply", false, "give the entries what is proposed")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "with --apply, show what would be changed and change nothing")
	return c
}

func labelProjectCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "project [DIR]",
		Short: "Say the project that a directory belongs to",
		Long: `Project names the project of the working directory, or of DIR: the last element
of the URL of the git remote origin, else the directory of the git repository,
else the directory that holds .oxbow, else the directory itself. So all clones
and worktrees of a repository share one name. It is what
oxbow remember --project auto labels with.`,
		Example: `  oxbow label project
  oxbow remember style "Tabs." --project auto`,
		Args: argCount(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if abs, err := env.absolutePath(dir); err == nil && !isDir(abs) {
				return misusef("check the path", "there is no directory %s", dir)
			}
			p, err := env.project(dir)
			if err != nil {
				return err
			}
			if env.json {
				return env.printJSON(struct {
					Project string `json:"project"`
					Why     string `json:"why"`
					Root    string `json:"root"`
				}{p.Name, p.Why, p.Root})
			}
			env.printf("%s\n", p.Name)
			env.note("it is %s (%s)", p.Why, clean(p.Root))
			return nil
		},
	}
}
