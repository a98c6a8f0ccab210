// A command that calls one verb: decode, call, encode.

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// call is a verb of package verb.
type call[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// does makes c call a verb. Its flags are the fields of In, into which arguments puts
// what stands without a flag; show tells people of Out.
func does[In, Out any](
	a *app,
	c *cobra.Command,
	verb call[In, Out],
	arguments func(*In, *flagSet, []string) error,
	show func(Out),
) *cobra.Command {
	return decodes(c, arguments, func(ctx context.Context, in In) error { return perform(ctx, a, verb, in, show) })
}

// decodes makes c run fn with what its flags, the fields of In, say, and what arguments
// makes of the rest.
func decodes[In any](
	c *cobra.Command,
	arguments func(*In, *flagSet, []string) error,
	fn func(context.Context, In) error,
) *cobra.Command {
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
		return fn(cmd.Context(), in)
	}
	return c
}

// takes makes c run fn with what its flags, the fields of In, say.
func takes[In any](c *cobra.Command, fn func(ctx context.Context, in In, args []string) error) *cobra.Command {
	flags := newFlags[In](c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var in In
		if err := flags.fill(&in); err != nil {
			return err
		}
		return fn(cmd.Context(), in, args)
	}
	return c
}

// perform calls a verb and shows what it gave. What it opened is closed after that.
func perform[In, Out any](ctx context.Context, a *app, verb call[In, Out], in In, show func(Out)) error {
	a.answers = true
	defer func() { a.answers = false }()
	out, err := run(ctx, a, verb, in)
	if err != nil {
		return err
	}
	return answer(a, out, show)
}

// positional is for verbs whose arguments are the parameters that are no flags, in
// their order. A list takes all that are left.
func positional[In any](in *In, f *flagSet, args []string) error {
	for _, p := range f.params {
		for first := true; p.Flag == "" && len(args) > 0 && (first || p.Repeatable); first = false {
			if p.Repeatable && args[0] == "" {
				return misusef("a script's variable may be unset", "one of the %s is empty", p.Name)
			}
			if err := p.Set(in, args[0]); err != nil {
				return badArgument(err)
			}
			args = args[1:]
		}
	}
	return nil
}

// run calls a verb, and closes what it opened.
func run[In, Out any](ctx context.Context, a *app, verb call[In, Out], in In) (Out, error) {
	out, err := attempt(ctx, a, verb, in)
	return out, badArgument(err)
}

// attempt is run for verbs that find invalid values in files, too.
func attempt[In, Out any](ctx context.Context, a *app, verb call[In, Out], in In) (out Out, err error) {
	if err := checked(&in); err != nil {
		return out, err
	}
	w, done, err := a.workspace(ctx)
	if err != nil {
		return out, err
	}
	stop := a.working(a.command)
	defer func() { err = errors.Join(err, done()); stop() }()
	return orKeep(a.withProgress(ctx), a, w, verb, in)
}

// orKeep calls a verb, and once more if a person keeps what looks like a secret.
func orKeep[In, Out any](
	ctx context.Context,
	a *app,
	w *verb.Workspace,
	verbCall call[In, Out],
	in In,
) (out Out, err error) {
	out, err = verbCall(ctx, w, in)
	if err != nil {
		var again bool
		again, err = a.mayKeep(err)
		if again {
			return verbCall(ctx, w, in)
		}
	}
	return out, err
}

// checked refuses texts of a verb's arguments that are not UTF-8, and required
// ones that are empty.
func checked[In any](in *In) error {
	for _, p := range verb.ParamsOf[In]() {
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
		a.page(func() { show(out) })
	}
	if f, ok := any(out).(interface{ Failed() bool }); ok && f.Failed() {
		return errReported
	}
	return nil
}

// group is the RunE of a command that has only subcommands.
func group(name string) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return misusef("oxbow help "+name+" lists what there is", "unknown command %q for oxbow %s", args[0], name)
		}
		return helpOf(c)
	}
}

// helpOf shows the help of a command that does nothing by itself. It is text, and so
// refused where JSON is asked for.
func helpOf(c *cobra.Command) error {
	if asked, _ := c.Flags().GetBool("json"); asked {
		return misusef(c.CommandPath()+" --help lists them", "%s --json needs a command", c.CommandPath())
	}
	return c.Help()
}
