// oxbow profile: what profiles there are, and what each comes to.

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
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
		RunE: group("profile"),
	}
	c.AddCommand(a.profileListCommand(), a.profileShowCommand(), a.profileNewCommand(),
		a.profileEditCommand(), a.profileLintCommand(), a.profileSelectCommand(), a.profileDiffCommand(), a.profileTokensCommand())
	return c
}

// asked returns the profile that a command names, "" for the one that the run is
// bound to. A bound run cannot look through another.
func (a *app) asked(cmd *cobra.Command, args []string) (string, error) {
	name, err := a.boundName()
	switch {
	case err != nil:
		return "", err
	case len(args) == 0 && name == "":
		return "", misusef("oxbow profile list shows what there is; usage: "+cmd.UseLine(), "%s needs the name of a profile", cmd.Name())
	case len(args) == 0 || name == args[0]:
		return "", nil
	case name != "":
		return "", misusef("run it without --profile, and without OXBOW_PROFILE", "this run is bound to profile %q, and cannot look through %q", name, args[0])
	}
	return args[0], nil
}

func (a *app) profileListCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the profiles there are, with what is wrong with them",
		Example: `  oxbow profile list
  oxbow profile list --json`,
	}, tool.ListProfiles, noArguments, a.showProfiles)
}

func (a *app) showProfiles(out tool.ProfilesOut) {
	wide := 0
	for _, r := range out.Profiles {
		wide = max(wide, columns(r.Name))
	}
	for _, r := range out.Profiles {
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
		a.hang(pad(clean(r.Name), wide)+"  "+pad(r.From, 7)+"  ", clean(what))
	}
	if len(out.Profiles) == 0 {
		a.note("there are no profiles yet; oxbow profile new NAME makes one")
	}
}

func (a *app) profileShowCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show what a profile comes to, with all that it extends",
		Example: `  oxbow profile show vtt
  oxbow profile show vtt --json`,
		Args: args(0, 1, "the name of one profile"),
	}
	return does(a, c, tool.ShowProfile, func(in *tool.ProfileIn, _ *flagSet, args []string) (err error) {
		in.Name, err = a.asked(c, args)
		return err
	}, a.showProfile)
}

func (a *app) showProfile(out tool.ProfileOut) {
	line := func(key, value string) { a.field(9, key, clean(value)) }
	a.printf("%s\n", a.bold(clean(out.Name)))
	line("says", strings.Join(strings.Fields(out.Description), " "))
	line("file", out.File+", of the "+out.From)
	line("extends", strings.Join(out.Extends, ", "))
	for _, f := range out.Include {
		line("includes", f)
	}
	for _, n := range out.Entries {
		line("includes", "the entry "+n)
	}
	if out.Process {
		line("includes", "process:true, to read only")
	}
	for _, f := range out.Exclude {
		line("excludes", f)
	}
	line("always", strings.Join(out.Documents, ", "))
	line("budget", fmt.Sprintf("%d tokens", out.MaxTokens))
	if out.Project != "" {
		line("writes", "project:"+out.Project+" on new entries that name no project")
	}
}

func (a *app) profileLintCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "lint [NAME…]",
		Short: "Point out what the writer of a profile did not mean",
		Long: `Lint reads all profiles, or those that are named, and tells with file and line
what is not YAML that a profile may hold, labels and names that no entry has,
what is both included and left out, selections that are empty, documents that
are not there, and budgets that the documents alone break. Its exit status is 1
when it found something.`,
		Example: `  oxbow profile lint
  oxbow profile lint vtt`,
	}, tool.LintProfiles, func(in *tool.LintIn, _ *flagSet, args []string) error {
		in.Names = args
		return nil
	}, func(out tool.LintOut) {
		for _, l := range out.Profiles {
			for _, f := range l.Found {
				a.printf("%s\n", clean(f))
			}
		}
		if !out.Failed() {
			a.note("nothing is odd about %s", count(len(out.Profiles), "profile", "profiles"))
		}
	})
}

func (a *app) profileSelectCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "select [NAME]",
		Short: "Print what a profile selects, as a model gets it",
		Example: `  oxbow profile select vtt
  oxbow profile select vtt --query "fog of war" --budget 4000 --manifest
  oxbow profile select author --as-of 2026-04-18`,
		Args: args(0, 1, "the name of one profile"),
	}
	var manifest *bool
	does(a, c, tool.Select, func(in *tool.SelectIn, _ *flagSet, args []string) (err error) {
		in.Profile, err = a.asked(c, args)
		return err
	}, func(out tool.SelectionOut) { a.showSelection(out, *manifest) })
	manifest = c.Flags().Bool("manifest", false, "print what got in, what was cut and why, instead of the text")
	return c
}

func (a *app) profileTokensCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "tokens [NAME]",
		Short: "Show how many tokens a profile takes, about",
		Example: `  oxbow profile tokens vtt
  oxbow profile tokens vtt --json`,
		Args: args(0, 1, "the name of one profile"),
	}
	return does(a, c, tool.ProfileBudget, func(in *tool.ProfileIn, _ *flagSet, args []string) (err error) {
		in.Name, err = a.asked(c, args)
		return err
	}, a.showBudget)
}

func (a *app) showBudget(b tool.ProfileBudgetOut) {
	line := func(n int, what string) { a.printf("%8d  %s\n", n, clean(what)) }
	for _, d := range b.Documents {
		what := "document " + d.Path
		if d.Wrong != "" {
			what += ": " + d.Wrong
		}
		line(d.Tokens, what)
	}
	line(b.Fixed, "always there: the documents and the head")
	line(b.Tokens, "all of "+count(b.Entries, "entry", "entries")+" that it includes")
	line(b.Room, fmt.Sprintf("room, by the same estimate, that max_tokens %d surely leaves", b.MaxTokens))
	if b.Fixed+b.Tokens > b.Room {
		a.note("not all of it fits; oxbow profile select NAME --manifest shows what is cut")
	}
}
