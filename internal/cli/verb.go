// This file implements commands that call one verb: they decode the arguments, call the verb,
// and encode the result.

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// call is the type of a verb.
type call[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// setUpCall makes c call a verb, and prints the result with show. The flags of c set the fields of
// In, and arguments sets further fields of In from the command's arguments.
func setUpCall[In, Out any](
	mem *openMemory,
	c *cobra.Command,
	verb call[In, Out],
	arguments func(*In, *flagSet, []string) error,
	show func(Out),
) *cobra.Command {
	return setUpDecoding(
		c,
		arguments,
		func(ctx context.Context, in In) error { return perform(ctx, mem, verb, in, show) },
	)
}

// setUpDecoding makes c call fn with an In. Its flags are the fields of In, and the function arguments
// stores all other arguments in In.
func setUpDecoding[In any](
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
		return fn(cmd.Context(), in)
	}
	return c
}

// setUpArguments makes c call fn with an In whose fields are set from the flags of c, and with the
// command's arguments.
func setUpArguments[In any](
	c *cobra.Command,
	fn func(ctx context.Context, in In, args []string) error,
) *cobra.Command {
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

// perform calls a verb and prints its result. Then it closes all resources that the verb opened.
func perform[In, Out any](ctx context.Context, mem *openMemory, verb call[In, Out], in In, show func(Out)) error {
	mem.answers = true
	defer func() { mem.answers = false }()
	out, err := attempt(ctx, mem, verb, in)
	if err != nil {
		return badArgument(err)
	}
	return answer(mem, out, show)
}

// positional stores arguments in the parameters of a verb that are not flags, in order. A
// repeatable parameter receives all remaining arguments.
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

// run calls a verb, and closes all resources that the verb opened. An invalid value is reported
// as misuse.
func run[In, Out any](ctx context.Context, mem *openMemory, verb call[In, Out], in In) (Out, error) {
	out, err := attempt(ctx, mem, verb, in)
	return out, badArgument(err)
}

// attempt is like run, but for verbs that may also find invalid values in files. It does not
// report invalid values as misuse. If the verb refuses text that looks like a secret and a person
// decides to store the text, the verb is called again.
func attempt[In, Out any](ctx context.Context, mem *openMemory, verbCall call[In, Out], in In) (out Out, err error) {
	if err := checkTexts(verb.StructParams[In](), &in); err != nil {
		return out, err
	}
	w, done, err := mem.workspace(ctx)
	if err != nil {
		return out, err
	}
	stop := mem.env.working(mem.command)
	defer func() { err = errors.Join(err, done()); stop() }()
	ctx = mem.env.withProgress(ctx)
	out, err = verbCall(ctx, w, in)
	again, err := mem.mayKeep(err)
	if again {
		return verbCall(ctx, w, in)
	}
	return out, err
}

// checkTexts returns an error if a text among a verb's arguments is not valid UTF-8, or if a
// required text is empty. in points to the arguments.
func checkTexts(params []verb.Param, in any) error {
	for _, p := range params {
		if err := p.Check(in, p.Name); err != nil {
			return badArgument(err)
		}
	}
	return nil
}

// answer prints the result of a verb as JSON or with show. It returns errReported if the verb
// itself reports a failure.
func answer[Out any](mem *openMemory, out Out, show func(Out)) error {
	return mem.env.print(out, func() { show(out) })
}

func (env *environment) print(out any, show func()) error {
	if env.json {
		if err := env.printJSON(verb.TypeCommands(out, env.typed)); err != nil {
			return err
		}
	} else {
		env.page(show)
	}
	if f, ok := out.(interface{ Failed() bool }); ok && f.Failed() {
		return errReported
	}
	return nil
}

// group makes c a command that has only subcommands.
func group(c *cobra.Command) *cobra.Command {
	name := c.Name()
	c.Annotations = map[string]string{groupAnnotation: "true"}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return misusef("oxbow help "+name+" lists what there is", "unknown command %q for oxbow %s", args[0], name)
		}
		return printHelp(c)
	}
	return c
}

const groupAnnotation = "group"

// isGroup reports whether the command has only subcommands.
func isGroup(c *cobra.Command) bool { return c.Annotations[groupAnnotation] != "" }

// printHelp prints the help of a command that has only subcommands. It returns an error if --json is
// set, because help is text.
func printHelp(c *cobra.Command) error {
	if asked, _ := c.Flags().GetBool("json"); asked {
		return misusef(c.CommandPath()+" --help lists them", "%s --json needs a command", c.CommandPath())
	}
	return c.Help()
}
