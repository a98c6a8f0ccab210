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

func labelCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "label",
		Short: "List, change, check and propose labels of many entries",
		Long: `Label changes the labels by which recall, list and profiles select entries:
project, tag, file, confidence, and keys of your own. A label is written as
key:value. With --dry-run, a command only lists its changes. A single oxbow undo
takes back everything that a command changed.`,
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

func labelListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List the labels, each with its number of entries",
		Example: `  oxbow label list
  oxbow label list --key project
  oxbow label list after:2026-04 kind:note`,
	}, labels.ListLabels, func(in *labels.ListLabelsIn, _ *flagSet, args []string) error {
		in.Filter = strings.Join(args, " ")
		return nil
	})
}

func labelAddCommand(mem *lazyMemory) *cobra.Command {
	return mem.setUpLabelEdit(&cobra.Command{
		Use:   "add LABEL…",
		Short: "Give labels to entries, by filter or by name",
		Long: `Add gives every LABEL to the selected entries. Select them with --where (a
filter, as in oxbow list), with --name, or with --all. With both --where and
--name, an entry must match both.`,
		Example: `  oxbow label add tag:cli --where "project:oxbow has:file" --dry-run
  oxbow label add project:vtt tag:map --name "grid size" --name "hex maps"
  oxbow label add tag:imported --all`,
	}, labels.AddLabels)
}

func labelRemoveCommand(mem *lazyMemory) *cobra.Command {
	return mem.setUpLabelEdit(&cobra.Command{
		Use:     "remove LABEL…",
		Aliases: []string{"rm"},
		Short:   "Take labels from entries, by filter or by name",
		Long: `Remove takes every LABEL from the selected entries. Select them with --where (a
filter, as in oxbow list), with --name, or with --all. With both --where and
--name, an entry must match both.`,
		Example: `  oxbow label remove tag:draft --where "before:2026-01" --dry-run
  oxbow label remove tag:wip --all`,
	}, labels.RemoveLabels)
}

// setUpLabelEdit sets up c as a command that changes the labels of entries by calling the function verbCall, and
// returns the command. The arguments of the command are labels. The command fails if the user selects no entries, or
// uses the flag --all together with --where or --name.
func (mem *lazyMemory) setUpLabelEdit(
	c *cobra.Command,
	verbCall verbFunc[labels.EditLabelsIn, labels.RelabelOut],
) *cobra.Command {
	c.Args = requireArgCount(1, -1, "a LABEL such as tag:decision")
	return setUpReportCommand(
		mem,
		c,
		withLabelFormatHint(verbCall),
		func(in *labels.EditLabelsIn, _ *flagSet, args []string) error {
			in.Labels = args
			chosen := len(in.Filters) > 0 || len(in.EntryNames) > 0
			switch {
			case !chosen && !in.AllEntries:
				return usageErrorf(
					"say which with --where FILTER or --name NAME, or give --all",
					"it is not said which entries are meant",
				)
			case chosen && in.AllEntries:
				return usageErrorf("leave out --all, or the rest", "--all is given beside --where or --name")
			}
			return nil
		},
	)
}

func labelRenameCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Rename a label on every entry that has it",
		Long: `Rename replaces the label OLD by NEW on every entry. It refuses a label that is
already in use, because you could not tell both apart afterwards. To join two
labels, use oxbow label merge.`,
		Example: `  oxbow label rename tag:decison tag:decision
  oxbow label rename tag:vtt project:vtt --dry-run`,
		Args: requireArgCount(2, 2, "an OLD and a NEW label"),
	}, withLabelFormatHint(labels.RenameLabel), setPositionalArgs)
}

func labelMergeCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "merge LABEL… INTO",
		Short: "Replace several labels by a single label",
		Long: `Merge replaces all other labels in the command by the last one, on every entry.
The last label may be one of them, or a new label.`,
		Example: `  oxbow label merge project:VTT project:homebrew-vtt
  oxbow label merge tag:idea tag:ideas tag:thought tag:idea --dry-run`,
		Args: requireArgCount(2, -1, "the labels to join, and the one that they become"),
	}, withLabelFormatHint(labels.MergeLabels), func(in *labels.MergeLabelsIn, _ *flagSet, args []string) error {
		in.Labels, in.TargetLabel = args[:len(args)-1], args[len(args)-1]
		return nil
	})
}

// withLabelFormatHint wraps a verb. If the verb returns an error about a label, the error gets a hint on the format of
// labels.
func withLabelFormatHint[In, Out any](verbCall verbFunc[In, Out]) verbFunc[In, Out] {
	return func(ctx context.Context, w *verb.Workspace, in In) (Out, error) {
		out, err := verbCall(ctx, w, in)
		if e, ok := errors.AsType[*labels.LabelError](err); ok {
			err = &usageError{e.Err, "a label is a key, a colon and a value, such as tag:decision"}
		}
		return out, err
	}
}

func labelLintCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "lint",
		Short: "Find labels that are probably the same",
		Long: `Lint finds labels that are probably the same: they differ only in capitals,
accents or punctuation, in a plural, in the owner before a project's name, or
in a single letter, or the same word is a project and a tag. It prints the
command that joins them, and changes nothing.`,
		Example: `  oxbow label lint
  oxbow label lint --json`,
	}, labels.LintLabels, setPositionalArgs)
}

func labelSuggestCommand(mem *lazyMemory) *cobra.Command {
	var in labels.SuggestLabelsIn
	apply := false
	c := &cobra.Command{
		Use:   "suggest [FILTER…]",
		Short: "Propose labels for entries without labels, with reasons",
		Long: `Suggest proposes a project and tags for entries without them. A proposal comes
from the labels of similar entries, and from names in the text. Its confidence
is measured on your own labelled entries: of the proposals with confidence 0.8,
at least four of five should be right. Suggest changes nothing without --apply.
One oxbow undo takes all applied labels back.`,
		Example: `  oxbow label suggest
  oxbow label suggest kind:journal before:2026-01 --key project
  oxbow label suggest --apply --min-confidence 0.8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Filter = strings.Join(args, " ")
			if !(in.MinConfidence > 0 && in.MinConfidence <= 1) {
				return usageErrorf(
					"write a number such as 0.8",
					"--min-confidence %v is not above 0 and at most 1",
					in.MinConfidence,
				)
			}
			if apply {
				return callAndReport(cmd.Context(), mem, labels.AcceptLabels, in)
			}
			again := "oxbow label suggest"
			for _, w := range args {
				again += " " + shellQuote(w)
			}
			for _, name := range []string{"key", "min-confidence"} {
				if f := cmd.Flags().Lookup(name); f.Changed {
					again += " --" + name + " " + shellQuote(strings.Trim(f.Value.String(), "[]"))
				}
			}
			return callAndPrint(cmd.Context(), mem, labels.SuggestLabels, in, func(out labels.SuggestLabelsOut) {
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
	c.Flags().Float64Var(
		&in.MinConfidence,
		"min-confidence",
		0.5,
		"leave out proposals with a confidence below `N`, from 0 to 1",
	)
	c.Flags().BoolVar(&apply, "apply", false, "set the proposed labels")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "with --apply, show what would be changed and change nothing")
	return c
}

func labelProjectCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "project [DIR]",
		Short: "Show to which project a directory belongs",
		Long: `Project prints the name of the project to which the working directory, or DIR,
belongs. This is the last part of the URL of the git remote origin, otherwise
the name of the git repository's directory, of the directory that contains
.oxbow, or of the directory itself. Therefore all clones and worktrees of a
repository have the same name. oxbow remember --project auto uses this name.`,
		Example: `  oxbow label project
  oxbow remember style "Tabs." --project auto`,
		Args: requireArgCount(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			if abs, err := env.absolutePath(dir); err == nil && !isDir(abs) {
				return usageErrorf("check the path", "there is no directory %s", dir)
			}
			p, err := env.projectOf(dir)
			if err != nil {
				return err
			}
			if env.wantsJSON {
				return env.printJSON(struct {
					Project string `json:"project"`
					Why     string `json:"why"`
					Root    string `json:"root"`
				}{p.Name, p.NameExplanation, p.RootDir})
			}
			env.printf("%s\n", p.Name)
			env.printNote("it is %s (%s)", p.NameExplanation, replaceHarmfulChars(p.RootDir))
			return nil
		},
	}
}
