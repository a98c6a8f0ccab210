// This file holds "oxbow profile": what profiles there are, and what each
// comes to.

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

func (a *app) profileCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "profile",
		Short: "Choose what an agent knows while it does a job",
		Long: `A profile is a YAML file that says which entries belong to a job: by project,
tag, kind, file, date and name. It lies in the home, in profiles/NAME.yaml, or
comes with the project, in .oxbow/profiles/NAME.yaml; of two of one name, the
home's counts. --profile NAME, or OXBOW_PROFILE, binds any command to it, and
oxbow mcp too: nothing else is seen then.`,
		Example: `  oxbow profile new vtt --project homebrew-vtt --tag decision
  oxbow profile lint
  oxbow profile select vtt --manifest
  oxbow mcp --profile vtt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misusef("oxbow help profile lists what there is", "unknown command %q for oxbow profile", args[0])
			}
			return cmd.Help()
		},
	}
	for _, sub := range []*cobra.Command{a.profileListCommand(), a.profileShowCommand(), a.profileNewCommand(),
		a.profileEditCommand(), a.profileLintCommand(), a.profileSelectCommand(), a.profileDiffCommand(), a.profileTokensCommand()} {
		a.finish(sub)
		c.AddCommand(sub)
	}
	return c
}

// asked returns the profile that a command names, or the one that the run is
// bound to. A bound run cannot look through another.
func (a *app) asked(cmd *cobra.Command, args []string) (*profile.Resolved, error) {
	name, err := a.boundName()
	if err != nil {
		return nil, err
	}
	switch {
	case len(args) == 0 && name == "":
		return nil, misusef("oxbow profile list shows what there is; usage: "+cmd.UseLine(), "%s needs the name of a profile", cmd.Name())
	case len(args) == 0:
		return a.bound()
	case name != "" && name != args[0]:
		return nil, misusef("run it without --profile, and without OXBOW_PROFILE", "this run is bound to profile %q, and cannot look through %q", name, args[0])
	}
	r, err := a.resolve(args[0])
	return &r, err
}

func (a *app) profileListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the profiles there are, with what is wrong with them",
		Example: `  oxbow profile list
  oxbow profile list --json`,
		Args: args(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			set, err := a.profiles()
			if err != nil {
				return err
			}
			found, err := set.List()
			if err != nil {
				return err
			}
			return a.showProfiles(found)
		},
	}
}

func (a *app) showProfiles(found []profile.Found) error {
	type row struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		File        string `json:"file"`
		From        string `json:"from"` // home or project
		Hidden      bool   `json:"hidden,omitempty"`
		Wrong       string `json:"wrong,omitempty"`
	}
	rows := []row{}
	wide := 0
	for _, f := range found {
		r := row{Name: f.Name, Description: f.Description, File: f.File, From: "home", Hidden: f.Hidden}
		if f.Project {
			r.From = "project"
		}
		if f.Wrong != nil {
			r.Wrong = f.Wrong.Error()
		}
		rows = append(rows, r)
		wide = max(wide, columns(f.Name))
	}
	if a.json {
		return a.printJSON(struct {
			Profiles []row `json:"profiles"`
		}{rows})
	}
	for _, r := range rows {
		if a.quiet {
			if !r.Hidden {
				a.printf("%s\n", clean(r.Name))
			}
			continue
		}
		what := strings.Join(strings.Fields(r.Description), " ")
		if r.Wrong != "" {
			first, _, _ := strings.Cut(r.Wrong, "\n")
			what = "wrong: " + first
		}
		if r.Hidden {
			what = "(hidden by the one before) " + what
		}
		a.printf("%s\n", strings.TrimRight(pad(clean(r.Name), wide)+"  "+pad(r.From, 7)+"  "+clean(what), " "))
	}
	if len(rows) == 0 {
		a.note("there are no profiles yet; oxbow profile new NAME makes one")
	}
	return nil
}

func (a *app) profileShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show what a profile comes to, with all that it extends",
		Example: `  oxbow profile show vtt
  oxbow profile show vtt --json`,
		Args: args(0, 1, "the name of one profile"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.asked(cmd, args)
			if err != nil {
				return err
			}
			return a.showProfile(r)
		},
		ValidArgsFunction: a.completeProfiles(1),
	}
}

func (a *app) showProfile(r *profile.Resolved) error {
	out := struct {
		Name        string   `json:"name"`
		Description string   `json:"description,omitempty"`
		File        string   `json:"file"`
		From        string   `json:"from"`
		Extends     []string `json:"extends"`
		Include     []string `json:"include"` // filters; an entry must fit one. Empty when there is none
		Entries     []string `json:"entries"` // names, included beside
		Exclude     []string `json:"exclude"` // filters; an entry that fits one is out
		Documents   []string `json:"always_include"`
		Process     bool     `json:"process"`
		MaxTokens   int      `json:"max_tokens"`
		Project     string   `json:"writes_project,omitempty"`
	}{Name: r.Name, Description: r.Description, File: r.File, From: "home", Process: r.Process, MaxTokens: r.MaxTokens,
		Extends: append([]string{}, r.Chain...), Include: []string{}, Entries: []string{}, Exclude: []string{}, Documents: []string{}}
	if r.Project {
		out.From = "project"
	}
	scope := r.Scope()
	out.Entries = append(out.Entries, scope.Names...)
	for _, f := range scope.Any {
		out.Include = append(out.Include, filterText(f))
	}
	for _, f := range scope.Except {
		out.Exclude = append(out.Exclude, filterText(f))
	}
	for _, d := range r.Documents {
		out.Documents = append(out.Documents, d.Path)
	}
	for _, l := range scope.Own {
		if l.Key == oxbow.LabelProject {
			out.Project = l.Value
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	line := func(key, value string) {
		if value != "" {
			a.printf("%s %s\n", a.dim(pad(key, 9)), clean(value))
		}
	}
	a.printf("%s\n", a.bold(clean(r.Name)))
	line("says", strings.Join(strings.Fields(r.Description), " "))
	line("file", r.File+", of the "+out.From)
	line("extends", strings.Join(out.Extends, ", "))
	for _, f := range out.Include {
		line("includes", f)
	}
	for _, n := range out.Entries {
		line("includes", "the entry "+n)
	}
	if r.Process {
		line("includes", "process:true, to read only")
	}
	for _, f := range out.Exclude {
		line("excludes", f)
	}
	line("always", strings.Join(out.Documents, ", "))
	line("budget", fmt.Sprintf("%d tokens", r.MaxTokens))
	if out.Project != "" {
		line("writes", "project:"+out.Project+" on new entries that name no project")
	}
	return nil
}

func filterText(f oxbow.Filter) string {
	if f.IsZero() {
		return "all entries"
	}
	return f.String()
}

// linted is what lint found in one profile.
type linted struct {
	Profile string   `json:"profile"`
	Found   []string `json:"found"`
}

func (a *app) profileLintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint [NAME…]",
		Short: "Point out what the writer of a profile did not mean",
		Long: `Lint reads all profiles, or those that are named, and tells with file and line
what is not YAML that a profile may hold, labels and names that no entry has,
what is both included and left out, selections that are empty, documents that
are not there, and budgets that the documents alone break. Its exit status is 1
when it found something.`,
		Example: `  oxbow profile lint
  oxbow profile lint vtt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.profiles()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if args, err = set.Names(); err != nil {
					return err
				}
			}
			out := []linted{}
			err = a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				for _, name := range args {
					l, err := lintOne(ctx, set, m, name)
					if err != nil {
						return err
					}
					out = append(out, l)
				}
				return nil
			})
			if err != nil {
				return badArgument(err)
			}
			return a.showLinted(out)
		},
		ValidArgsFunction: a.completeProfiles(1 << 20),
	}
}

func lintOne(ctx context.Context, set *profile.Set, m *oxbow.Memory, name string) (linted, error) {
	l := linted{Profile: name, Found: []string{}}
	r, err := set.Resolve(name)
	var wrong profile.Diagnostics
	var unknown *profile.UnknownError
	switch {
	case errors.As(err, &wrong):
	case errors.As(err, &unknown):
		return l, err
	case err != nil: // a file that cannot be read is one finding among others
		l.Found = append(l.Found, err.Error())
	default:
		if wrong, err = set.Lint(ctx, m, &r); err != nil {
			return l, fmt.Errorf("looking at profile %q: %w", name, err)
		}
	}
	for _, w := range wrong {
		l.Found = append(l.Found, w.String())
	}
	return l, nil
}

func (a *app) showLinted(out []linted) error {
	found := 0
	for _, l := range out {
		found += len(l.Found)
	}
	if a.json {
		if err := a.printJSON(struct {
			Profiles []linted `json:"profiles"`
		}{out}); err != nil {
			return err
		}
	} else {
		for _, l := range out {
			for _, f := range l.Found {
				a.printf("%s\n", clean(f))
			}
		}
	}
	if found > 0 {
		return errTold
	}
	a.note("nothing is odd about %s", count(len(out), "profile", "profiles"))
	return nil
}

func (a *app) profileSelectCommand() *cobra.Command {
	var s selecting
	c := &cobra.Command{
		Use:   "select [NAME]",
		Short: "Print what a profile selects, as a model gets it",
		Example: `  oxbow profile select vtt
  oxbow profile select vtt --query "fog of war" --budget 4000 --manifest
  oxbow profile select author --as-of 2026-04-18`,
		Args: args(0, 1, "the name of one profile"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.asked(cmd, args)
			if err != nil {
				return err
			}
			return a.selection(cmd.Context(), r, s)
		},
		ValidArgsFunction: a.completeProfiles(1),
	}
	s.addTo(c, "query")
	return c
}

func (a *app) profileTokensCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "tokens [NAME]",
		Short: "Show how many tokens a profile takes, about",
		Example: `  oxbow profile tokens vtt
  oxbow profile tokens vtt --json`,
		Args: args(0, 1, "the name of one profile"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.asked(cmd, args)
			if err != nil {
				return err
			}
			set, err := a.profiles()
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				b, err := set.Count(ctx, m, r)
				if err != nil {
					return fmt.Errorf("counting tokens: %w", err)
				}
				return a.showBudget(b)
			})
		},
		ValidArgsFunction: a.completeProfiles(1),
	}
}
