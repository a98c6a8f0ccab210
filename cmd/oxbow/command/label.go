// This file holds "oxbow label": the labels of many entries at once.

package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/label"
	"github.com/oxbow-memory/oxbow/query"
)

func (a *app) labelCommand() *cobra.Command {
	c := &cobra.Command{
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
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misusef("oxbow help label lists what there is", "unknown command %q for oxbow label", args[0])
			}
			return cmd.Help()
		},
	}
	for _, sub := range []*cobra.Command{a.labelListCommand(), a.labelEditCommand(true), a.labelEditCommand(false),
		a.labelRenameCommand(), a.labelMergeCommand(), a.labelLintCommand(), a.labelSuggestCommand(), a.labelProjectCommand()} {
		finish(sub)
		c.AddCommand(sub)
	}
	return c
}

// labelCount is a label in an answer.
type labelCount struct {
	Label   string `json:"label"`
	Key     string `json:"key"`
	Value   string `json:"value"`
	Entries int    `json:"entries"`
}

func labelCounts(cs []label.Count) []labelCount {
	out := make([]labelCount, len(cs))
	for i, c := range cs {
		out[i] = labelCount{c.Label.String(), c.Label.Key, c.Label.Value, c.Entries}
	}
	return out
}

func (a *app) labelListCommand() *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:     "list [FILTER…]",
		Aliases: []string{"ls"},
		Short:   "List the labels there are, with the number of entries that carry each",
		Example: `  oxbow label list
  oxbow label list --key project
  oxbow label list after:2026-04 kind:note`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := a.parseFilter(args)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				cs, err := label.Counts(ctx, m, f)
				if err != nil {
					return fmt.Errorf("counting labels: %w", err)
				}
				kept := cs[:0]
				for _, c := range cs {
					// What programs note for themselves is shown on demand.
					if c.Label.Key == key || key == "" && c.Label.Key != oxbow.LabelFileBlob {
						kept = append(kept, c)
					}
				}
				cs = kept
				return a.showLabels(cs)
			})
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.Flags().StringVar(&key, "key", "", "only labels of this `KEY`, such as project or tag")
	return c
}

func (a *app) showLabels(cs []label.Count) error {
	if a.json {
		return a.printJSON(struct {
			Labels []labelCount `json:"labels"`
		}{labelCounts(cs)})
	}
	if len(cs) == 0 {
		a.note("no entry carries such a label; oxbow label add gives one, oxbow label suggest proposes some")
	}
	wide := 0
	for _, c := range cs {
		wide = max(wide, columns(c.Label.String()))
	}
	for _, c := range cs {
		if a.quiet {
			a.printf("%s\n", clean(c.Label.String()))
			continue
		}
		a.printf("%s  %s\n", pad(clean(c.Label.String()), wide), count(c.Entries, "entry", "entries"))
	}
	return nil
}

// parseFilter reads the filter that stands in the arguments.
func (a *app) parseFilter(args []string) (oxbow.Filter, error) {
	f, err := query.ParseFilter(strings.Join(args, " "), a.env.Now())
	return f, badArgument(err)
}

// parseLabels reads labels that stand in the arguments.
func parseLabels(args []string) ([]oxbow.Label, error) {
	var ls []oxbow.Label
	for _, s := range args {
		l, err := oxbow.ParseLabel(s)
		if err != nil {
			return nil, &misuse{err, "a label is a key, a colon and a value, such as tag:decision"}
		}
		ls = append(ls, l)
	}
	return ls, nil
}

func (a *app) labelEditCommand(add bool) *cobra.Command {
	var where, names []string
	var all, dry bool
	c := &cobra.Command{
		Use:   "add LABEL…",
		Short: "Give labels to the entries that a filter selects, or that are named",
		Long: `Add gives every LABEL to the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`,
		Example: `  oxbow label add tag:cli --where "project:oxbow has:file" --dry-run
  oxbow label add project:vtt tag:map --name "grid size" --name "hex maps"
  oxbow label add tag:imported --all`,
		Args: args(1, -1, "a LABEL such as tag:decision"),
	}
	planner := label.Add
	if !add {
		planner = label.Remove
		c.Use, c.Aliases, c.Short = "remove LABEL…", []string{"rm"}, "Take labels from the entries that a filter selects, or that are named"
		c.Long = `Remove takes every LABEL from the selected entries. Which those are is said by
--where (a filter, as oxbow list takes it), by --name, or by --all; with --where
and --name together, an entry must fit both.`
		c.Example = `  oxbow label remove tag:draft --where "before:2026-01" --dry-run
  oxbow label remove tag:wip --all`
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ls, err := parseLabels(args)
		if err != nil {
			return err
		}
		chosen := len(where) > 0 || len(names) > 0
		switch {
		case !chosen && !all:
			return misusef("say which with --where FILTER or --name NAME, or give --all", "it is not said which entries are meant")
		case chosen && all:
			return misusef("leave out --all, or the rest", "--all is given beside --where or --name")
		}
		f, err := a.parseFilter(where)
		if err != nil {
			return err
		}
		return a.relabel(cmd.Context(), planner(label.Selection{Filter: f, Names: names}, ls...), dry)
	}
	c.Flags().StringArrayVar(&where, "where", nil, "the entries that this `FILTER` selects")
	c.Flags().StringArrayVar(&names, "name", nil, "the entry of this `NAME`; may be repeated")
	c.Flags().BoolVar(&all, "all", false, "all entries")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be changed and change nothing")
	_ = c.RegisterFlagCompletionFunc("name", a.completeName(1))
	return c
}

func (a *app) labelRenameCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "rename OLD NEW",
		Short: "Give a label another value or key, on every entry that carries it",
		Long: `Rename puts the label NEW in the place of OLD on every entry. A label that is in
use already is refused, because the two could not be told apart afterwards:
oxbow label merge joins them.`,
		Example: `  oxbow label rename tag:decison tag:decision
  oxbow label rename tag:vtt project:vtt --dry-run`,
		Args: args(2, 2, "an OLD and a NEW label"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ls, err := parseLabels(args)
			if err != nil {
				return err
			}
			return a.relabel(cmd.Context(), label.Rename(ls[0], ls[1]), dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be changed and change nothing")
	return c
}

func (a *app) labelMergeCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "merge LABEL… INTO",
		Short: "Join labels into one, on every entry that carries one of them",
		Long: `Merge puts the last label in the place of all that stand before it, on every
entry. The last may be one of them, or new.`,
		Example: `  oxbow label merge project:VTT project:homebrew-vtt
  oxbow label merge tag:idea tag:ideas tag:thought tag:idea --dry-run`,
		Args: args(2, -1, "the labels to join, and the one that they become"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ls, err := parseLabels(args)
			if err != nil {
				return err
			}
			return a.relabel(cmd.Context(), label.Merge(ls[:len(ls)-1], ls[len(ls)-1]), dry)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be changed and change nothing")
	return c
}

// relabelOut is what a change of labels gives.
type relabelOut struct {
	DryRun  bool          `json:"dry_run,omitempty"`
	Seq     uint64        `json:"seq,omitempty"` // the change, 0 when nothing was changed
	Entries []relabelledE `json:"entries"`
}

type relabelledE struct {
	Name    string   `json:"name"`
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// relabel shows a plan, or carries it out.
func (a *app) relabel(ctx context.Context, plan label.Planner, dry bool) error {
	return a.with(ctx, unlessDry(change, dry), func(ctx context.Context, m *oxbow.Memory) error {
		var p label.Plan
		var err error
		if dry {
			p, err = plan(ctx, m)
		} else {
			p, err = label.Apply(ctx, m, plan)
		}
		if err != nil {
			return badArgument(err)
		}
		return a.showPlan(ctx, m, p, dry)
	})
}

func (a *app) showPlan(ctx context.Context, m *oxbow.Memory, p label.Plan, dry bool) error {
	out := relabelOut{DryRun: dry, Entries: []relabelledE{}}
	for _, c := range p.Changes {
		e := relabelledE{Name: c.Name}
		for _, l := range c.Added() {
			e.Added = append(e.Added, l.String())
		}
		for _, l := range c.Removed() {
			e.Removed = append(e.Removed, l.String())
		}
		out.Entries = append(out.Entries, e)
	}
	if len(p.Changes) > 0 && !dry {
		// Forgotten since by somebody else: then the number is not known.
		if e, err := m.Get(ctx, p.Changes[0].Name); err == nil {
			out.Seq = e.Version
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	did := "relabelled"
	if dry {
		did = "would relabel"
	}
	a.printf("%s %s\n", did, count(len(out.Entries), "entry", "entries"))
	if !a.quiet {
		for _, e := range out.Entries {
			line := "  " + a.bold(clean(e.Name))
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
	case dry:
		a.note("dry run: nothing was changed")
	case out.Seq != 0 && a.foreign:
		a.note("this layout keeps no history: oxbow undo cannot take this back")
	case out.Seq != 0:
		a.note("to take this back: oxbow undo --seq %d", out.Seq)
	}
	return nil
}

func (a *app) labelLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint",
		Short: "Point out labels that were perhaps meant to be one",
		Long: `Lint finds labels that differ in capitals, accents or the marks between words
only, in a plural, in the owner before a project's name, or in one typing error,
and words that are a project and a tag. It says the command that joins them and
changes nothing.`,
		Example: `  oxbow label lint
  oxbow label lint --json`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				cs, err := label.Counts(ctx, m, oxbow.Filter{})
				if err != nil {
					return fmt.Errorf("counting labels: %w", err)
				}
				return a.showDoubts(label.Lint(cs))
			})
		},
	}
}

func (a *app) showDoubts(ds []label.Finding) error {
	type doubt struct {
		Labels []labelCount `json:"labels"`
		Why    string       `json:"why"`
		Merge  string       `json:"merge_into"`
	}
	out := []doubt{}
	for _, d := range ds {
		out = append(out, doubt{labelCounts(d.Labels), d.Why, d.Merge.String()})
	}
	if a.json {
		return a.printJSON(struct {
			Doubts []doubt `json:"doubts"`
		}{out})
	}
	for i, d := range ds {
		a.printf("%s\n", clean(d.String()))
		words := []string{"oxbow", "label", "merge"}
		for _, l := range out[i].Labels {
			if l.Label != out[i].Merge {
				words = append(words, quote(l.Label))
			}
		}
		a.note("  %s", clean(strings.Join(append(words, quote(out[i].Merge)), " ")))
	}
	if len(ds) == 0 {
		a.note("no two labels look like one")
	}
	return nil
}

func (a *app) labelProjectCommand() *cobra.Command {
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
		Args: args(0, 1, "at most one DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			p, err := a.project(dir)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Project string `json:"project"`
					Why     string `json:"why"`
					Root    string `json:"root"`
				}{p.Name, p.Why, p.Root})
			}
			a.printf("%s\n", p.Name)
			a.note("it is %s (%s)", p.Why, clean(p.Root))
			return nil
		},
	}
}

// autoProject is what --project takes for the project of the working directory.
const autoProject = "auto"
