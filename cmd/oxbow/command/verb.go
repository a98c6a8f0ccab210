// A command that calls one verb: decode, call, encode.

package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/handoff"
	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/tool"
)

// call is a verb of package tool.
type call[In, Out any] func(context.Context, *tool.Workspace, In) (Out, error)

// does makes c call a verb. Its flags are those of In, into which arguments puts
// what stands without a flag; show tells people of Out.
func does[In, Out any](a *app, c *cobra.Command, verb call[In, Out], arguments func(*In, *flagSet, []string) error, show func(Out)) *cobra.Command {
	flags := newFlags[In](c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var in In
		if err := flags.fill(&in); err != nil {
			return err
		}
		if err := arguments(&in, flags, args); err != nil {
			return err
		}
		if err := flags.check(&in); err != nil {
			return err
		}
		out, err := run(cmd.Context(), a, verb, in)
		if err != nil {
			return err
		}
		return answer(a, out, show)
	}
	return c
}

// noArguments is for verbs whose command takes flags only.
func noArguments[In any](*In, *flagSet, []string) error { return nil }

// run calls a verb, and closes what it opened.
func run[In, Out any](ctx context.Context, a *app, verb call[In, Out], in In) (out Out, err error) {
	if err := checked(&in); err != nil {
		return out, err
	}
	w, done, err := a.workspace()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, done()) }()
	out, err = verb(ctx, w, in)
	return out, badArgument(err)
}

// checked refuses texts of a verb's arguments that are not UTF-8, and required
// ones that are empty.
func checked[In any](in *In) error {
	for _, p := range tool.ParamsOf[In]() {
		if err := p.Check(in, p.Name); err != nil {
			return badArgument(err)
		}
	}
	return nil
}

// answer shows what a verb gave: as JSON, or as show does. A verb that ran and
// found something wrong fails the run.
func answer[Out any](a *app, out Out, show func(Out)) error {
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		show(out)
	}
	if f, ok := any(out).(interface{ Failed() bool }); ok && f.Failed() {
		return errTold
	}
	return nil
}

// workspace returns what the verbs of this run work on, and the function that
// closes what they opened.
func (a *app) workspace() (*tool.Workspace, func() error, error) {
	src, err := a.source()
	if err != nil {
		return nil, nil, err
	}
	var memories [tool.Create + 1]*oxbow.Memory // by access
	var notes *annotate.Store
	w := &tool.Workspace{
		Open: func(_ context.Context, how tool.Access) (m *oxbow.Memory, err error) {
			for _, m := range memories[how:] {
				if m != nil {
					return m, nil
				}
			}
			memories[how], err = a.open(how)
			return memories[how], err
		},
		Annotations: func(ctx context.Context) (_ *annotate.Store, err error) {
			if notes == nil {
				notes, err = a.book(ctx)
			}
			return notes, err
		},
		Now:     a.env.Now,
		Source:  src,
		Project: a.projectHere,
		Place:   a.memoryPlace,
		Host:    a.host(),
		Words:   referenceText,
		Loader:  a.loader,
	}
	w.Dir, _ = a.abs(".") // without one, no file of a handoff is looked at
	return w, func() error {
		var errs []error
		for _, m := range memories {
			if m != nil {
				errs = append(errs, a.done(m))
			}
		}
		if notes != nil {
			errs = append(errs, notes.Close())
		}
		return errors.Join(errs...)
	}, nil
}

// badArgument makes misuse of an error about a value that stood on the command
// line.
func badArgument(err error) error {
	if errors.Is(err, oxbow.ErrInvalid) {
		return &misuse{err: err}
	}
	return err
}

// group is the RunE of a command that has only subcommands.
func group(name string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return misusef("oxbow help "+name+" lists what there is", "unknown command %q for oxbow %s", args[0], name)
		}
		return c.Help()
	}
}

// loader resolves what handoffs and sessions name: profiles, skills, and the
// profile that binds the run.
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
