// This file holds "oxbow handoff": tasks passed from one session to the next.

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/handoff"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) handoffCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "handoff",
		Short: "Pass a task from one session to the next, which takes it once",
		Long: `Handoff leaves a task to the next session: what was done, what is to be done,
which files to read first, and the memory profile and skills to load. The next
session takes it; no two sessions can take the same.`,
		Example: `  oxbow handoff new "The grid is done." --plan "Walls next." --read map.go
  oxbow handoff list
  oxbow handoff take`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misusef("oxbow help handoff lists what there is", "unknown command %q for oxbow handoff", args[0])
			}
			return cmd.Help()
		},
	}
	for _, sub := range []*cobra.Command{a.handoffNewCommand(), a.handoffListCommand(), a.handoffShowCommand(),
		a.handoffTakeCommand(), a.handoffDropCommand()} {
		a.finish(sub)
		c.AddCommand(sub)
	}
	return c
}

// handoffOut is a handoff in an answer.
type handoffOut struct {
	Name    string         `json:"name"`
	Version uint64         `json:"version"`
	Created string         `json:"created"`
	State   string         `json:"state"` // open or taken
	Project string         `json:"project,omitempty"`
	Profile string         `json:"memory_profile,omitempty"`
	Skills  []string       `json:"skills,omitempty"`
	Files   []handoff.File `json:"files_to_read,omitempty"`
	Summary string         `json:"summary"`
	Plan    string         `json:"plan,omitempty"`
	Loaded  *loadedOut     `json:"loaded,omitempty"`
}

// loadedOut is what a handoff names, as it was loaded.
type loadedOut struct {
	Selection *selectionOut `json:"selection,omitempty"`
	Skills    []skillOut    `json:"skills,omitempty"`
	Wrong     string        `json:"profile_not_loaded,omitempty"` // why
}

type selectionOut struct {
	*profile.Selection
	Text string `json:"text"`
}

type skillOut struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty"`
	Text  string `json:"text,omitempty"`
	Wrong string `json:"not_loaded,omitempty"` // why
}

func handoffOf(h handoff.Handoff, files []handoff.File) handoffOut {
	out := handoffOut{Name: h.Name, Version: h.Version, Created: h.Created.UTC().Format(time.RFC3339), State: handoff.StateOpen,
		Project: h.Project, Profile: h.Profile, Skills: h.Skills, Files: files, Summary: h.Summary, Plan: h.Plan}
	if h.Taken {
		out.State = handoff.StateTaken
	}
	return out
}

func (a *app) handoffNewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "new SUMMARY",
		Short: "Leave a task to the next session",
		Long: `New stores a handoff. --project auto labels it with the project of the working
directory. The same handoff that is open already is not stored twice.`,
		Example: `  oxbow handoff new "The grid is done." --plan "Walls next." \
    --read pkg/map.go --skill senior-developer --profile vtt --project auto`,
		Args: args(1, 1, "a SUMMARY"),
	}
	return does(a, c, tool.HandOff, func(in *tool.HandoffTaskIn, _ *flagSet, args []string) (err error) {
		in.Summary = args[0]
		in.Project, err = a.projectNamed(in.Project)
		return err
	}, func(out tool.SavedOut) {
		if a.quiet {
			a.printf("%s\n", clean(out.Name))
			return
		}
		a.printf("handed off as %s%s\n", a.bold(clean(out.Name)), a.changeText(out.Version))
		a.note("the next session takes it: oxbow handoff take")
	})
}

// projectNamed returns the project that a flag means.
func (a *app) projectNamed(s string) (string, error) {
	if s != autoProject {
		return s, nil
	}
	p, err := a.project(".")
	return p.Name, err
}

func (a *app) handoffListCommand() *cobra.Command {
	var all bool
	var project string
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the open handoffs, the newest first",
		Example: "  oxbow handoff list --all",
		Args:    args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			project, err := a.projectNamed(project)
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				hs, err := handoff.List(ctx, m, project, all)
				if err != nil {
					return fmt.Errorf("listing handoffs: %w", err)
				}
				if a.json {
					outs := []handoffOut{}
					for _, h := range hs {
						outs = append(outs, handoffOf(h, nil))
					}
					return a.printJSON(struct {
						Handoffs []handoffOut `json:"handoffs"`
					}{outs})
				}
				for _, h := range hs {
					if a.quiet {
						a.printf("%s\n", clean(h.Name))
						continue
					}
					a.printf("%s  %s  %s\n", a.date(h.Created), handoffOf(h, nil).State, a.bold(clean(h.Name)))
				}
				if len(hs) == 0 {
					a.note("no handoff waits")
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "the taken ones too")
	c.Flags().StringVar(&project, "project", "", "only those of this `PROJECT`; auto is that of the working directory")
	return c
}

// opening are the flags of the commands that show a handoff as its taker sees it.
type opening struct {
	brief  bool
	budget int
}

func (o *opening) addTo(c *cobra.Command) {
	c.Flags().BoolVar(&o.brief, "brief", false, "only the handoff, without the profile and the skills that it names")
	c.Flags().IntVar(&o.budget, "budget", 0, "at most `N` tokens with what is loaded, instead of the profile's own max_tokens")
}

func (o *opening) check() error {
	if o.budget < 0 {
		return misusef("leave it out for the profile's own", "--budget %d is less than 1 token", o.budget)
	}
	return nil
}

func (a *app) handoffShowCommand() *cobra.Command {
	var o opening
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a handoff as its taker sees it, and take nothing",
		Example: `  oxbow handoff show "handoff: The grid is done."`,
		Args:    args(1, 1, "the NAME of a handoff"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := a.loader()
			if err = errors.Join(err, o.check()); err != nil {
				return err
			}
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				h, err := handoff.Get(ctx, m, args[0])
				if err != nil {
					return badArgument(err)
				}
				return a.showHandoff(ctx, m, l, h, o)
			})
		},
		ValidArgsFunction: a.completeName(1),
	}
	o.addTo(c)
	return c
}

func (a *app) handoffTakeCommand() *cobra.Command {
	var o opening
	var project string
	c := &cobra.Command{
		Use:   "take [NAME]",
		Short: "Take the newest open handoff, or the one of that name",
		Long: `Take prints a handoff and marks it as taken, so that no other session gets it;
then the skills and the selection of the memory profile that it names, and says
which of its files are there. When none waits it prints nothing and is
done: so it can stand at the start of every session. What was taken by mistake,
oxbow undo opens again.`,
		Example: `  oxbow handoff take
  oxbow handoff take --project auto`,
		Args: args(0, 1, "at most one NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				if name = args[0]; project != "" {
					return misusef("leave one of them out", "a NAME and --project are given")
				}
				if name == "" {
					return misusef("leave it out to take the newest", "the name is empty")
				}
			}
			project, err := a.projectNamed(project)
			if err != nil {
				return err
			}
			l, err := a.loader()
			if err = errors.Join(err, o.check()); err != nil {
				return err
			}
			return a.with(cmd.Context(), change, func(ctx context.Context, m *oxbow.Memory) error {
				h, err := handoff.Take(ctx, m, name, project)
				if errors.Is(err, handoff.ErrNone) {
					a.note("no handoff waits")
					if a.json {
						return a.printJSON(struct{}{})
					}
					return nil
				}
				if err != nil {
					return badArgument(err)
				}
				return a.showHandoff(ctx, m, l, h, o)
			})
		},
		ValidArgsFunction: a.completeName(1),
	}
	o.addTo(c)
	c.Flags().StringVar(&project, "project", "", "only one of this `PROJECT`; auto is that of the working directory")
	return c
}

func (a *app) handoffDropCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "drop NAME",
		Short:   "Forget a handoff, open or taken",
		Example: `  oxbow handoff drop "handoff: The grid is done."`,
		Args:    args(1, 1, "the NAME of a handoff"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), change, func(ctx context.Context, m *oxbow.Memory) error {
				h, err := handoff.Drop(ctx, m, args[0])
				if err != nil {
					return badArgument(err)
				}
				if a.json {
					return a.printJSON(handoffOf(h, nil))
				}
				a.printf("dropped %s\n", a.bold(clean(h.Name)))
				a.note("to take this back: oxbow undo")
				return nil
			})
		},
		ValidArgsFunction: a.completeName(1),
	}
}

// showHandoff prints a handoff, and what it names. It may be taken by now: what
// cannot be loaded is said, and is no failure.
func (a *app) showHandoff(ctx context.Context, m *oxbow.Memory, l *handoff.Loader, h handoff.Handoff, how opening) error {
	files := a.handoffFiles(h)
	if how.brief {
		if a.json {
			return a.printJSON(handoffOf(h, files))
		}
		a.printf("%s", clean(h.Text(files)))
		return nil
	}
	o := l.Load(ctx, m, h, files, profile.Request{Budget: how.budget})
	if a.json {
		return a.printJSON(openingOf(&o))
	}
	a.printf("%s", clean(o.Text()))
	return nil
}

// loader returns what loads the profiles and skills that handoffs name. It comes
// before a handoff is taken, so that what is wrong with the home keeps none from
// being shown.
func (a *app) loader() (*handoff.Loader, error) {
	profiles, err := a.profiles()
	if err != nil {
		return nil, err
	}
	skills, err := a.skills()
	if err != nil {
		return nil, err
	}
	bound, err := a.bound()
	return &handoff.Loader{Profiles: profiles, Skills: skills, Bound: bound}, err
}

func openingOf(o *handoff.Opening) handoffOut {
	out := handoffOf(o.Handoff, o.Files)
	out.Loaded = &loadedOut{Wrong: o.Wrong}
	if o.Selection != nil {
		out.Loaded.Selection = &selectionOut{o.Selection, o.Selection.Text()}
	}
	for _, s := range o.Skills {
		k := skillOut{Name: s.Name, Wrong: s.Wrong}
		if s.Skill != nil {
			k.File, k.Text = s.Skill.File, s.Skill.Text
		}
		out.Loaded.Skills = append(out.Loaded.Skills, k)
	}
	return out
}

// handoffFiles returns what is known of a handoff's files in the working
// directory. They are looked at under a root, which links cannot lead out of.
func (a *app) handoffFiles(h handoff.Handoff) []handoff.File {
	files, err := a.lookAtFiles(h)
	if err != nil {
		// It may be taken by now: it must be shown all the same.
		a.warn("looking for the files of %q: %v", h.Name, err)
		for _, f := range h.Files {
			files = append(files, handoff.File{Name: f, Trouble: "not looked at"})
		}
	}
	return files
}

func (a *app) lookAtFiles(h handoff.Handoff) ([]handoff.File, error) {
	dir, err := a.abs(".")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return handoff.Look(h.Files, dir, root.FS()), nil
}
