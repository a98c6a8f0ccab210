// This file implements commands that call a single verb. It decodes the arguments, calls the verb, and prints the
// result.

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// verbFunc is the type of the functions that implement verbs.
type verbFunc[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// setUpVerbCommand makes the command c call a verb and print its result. The argument verb is the function that
// implements the verb, and its input has the type In. The command's flags set fields of the input. The function
// fillFromArgs sets further fields from the arguments on the command line. The function show prints the result.
func setUpVerbCommand[In, Out any](
	mem *lazyMemory,
	c *cobra.Command,
	verb verbFunc[In, Out],
	fillFromArgs func(*In, *flagSet, []string) error,
	show func(Out),
) *cobra.Command {
	return setUpInputCommand(
		c,
		fillFromArgs,
		func(ctx context.Context, in In) error { return callAndPrint(ctx, mem, verb, in, show) },
	)
}

// setUpInputCommand makes the command c call the function fn with an input of the type In. The command's flags set
// fields of the input. The parameter fillFromArgs is a function that sets further fields from the arguments on the
// command line.
func setUpInputCommand[In any](
	c *cobra.Command,
	fillFromArgs func(*In, *flagSet, []string) error,
	fn func(context.Context, In) error,
) *cobra.Command {
	flags := newFlags[In](c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var in In
		if err := flags.fillInput(&in); err != nil {
			return err
		}
		if err := fillFromArgs(&in, flags, args); err != nil {
			return err
		}
		return fn(cmd.Context(), in)
	}
	return c
}

// setUpFlagsAndArgs makes the command c call the function fn with the command's arguments and an input of the type In.
// The command's flags set the fields of this input.
func setUpFlagsAndArgs[In any](
	c *cobra.Command,
	fn func(ctx context.Context, in In, args []string) error,
) *cobra.Command {
	flags := newFlags[In](c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		var in In
		if err := flags.fillInput(&in); err != nil {
			return err
		}
		return fn(cmd.Context(), in, args)
	}
	return c
}

// callAndPrint calls a verb and prints its result. If the verb fails, callAndPrint returns the error. The memories that
// the verb opened are closed only at the end of the process, so that the person sees the result sooner.
func callAndPrint[In, Out any](
	ctx context.Context,
	mem *lazyMemory,
	verb verbFunc[In, Out],
	in In,
	show func(Out),
) error {
	mem.showsAnswerFirst = true
	defer func() { mem.showsAnswerFirst = false }()
	out, err := callVerbRawError(ctx, mem, verb, in)
	if err != nil {
		return asUsageError(err)
	}
	return printResult(mem, out, show)
}

// setPositionalArgs stores the command's arguments, in order, in those parameters of a verb that are not flags. A
// repeatable parameter gets all remaining arguments.
func setPositionalArgs[In any](in *In, f *flagSet, args []string) error {
	for _, p := range f.params {
		for first := true; p.Flag == "" && len(args) > 0 && (first || p.Repeatable); first = false {
			if p.Repeatable && args[0] == "" {
				return usageErrorf("a script's variable may be unset", "one of the %s is empty", p.Name)
			}
			if err := p.SetField(in, args[0]); err != nil {
				return asUsageError(err)
			}
			args = args[1:]
		}
	}
	return nil
}

// callVerb calls a verb, and closes everything that the verb has opened. If the verb returns an error about an invalid
// value, callVerb converts it to a usage error, because the value comes from the command line.
func callVerb[In, Out any](ctx context.Context, mem *lazyMemory, verb verbFunc[In, Out], in In) (Out, error) {
	out, err := callVerbRawError(ctx, mem, verb, in)
	return out, asUsageError(err)
}

// callVerbRawError is like callVerb, but does not convert errors to usage errors. It is for verbs that may also find
// invalid values in files. If the verb refuses a text that looks like a secret, and the person decides to store the
// text, the verb is called again.
func callVerbRawError[In, Out any](
	ctx context.Context,
	mem *lazyMemory,
	verbCall verbFunc[In, Out],
	in In,
) (out Out, err error) {
	if err := checkInputTexts(verb.StructParams[In](), &in); err != nil {
		return out, err
	}
	w, done, err := mem.newWorkspace(ctx)
	if err != nil {
		return out, err
	}
	stop := mem.env.startProgress(mem.commandPath)
	defer func() { err = errors.Join(err, done()); stop() }()
	ctx = mem.env.withProgressReporter(ctx)
	out, err = verbCall(ctx, w, in)
	if err == nil {
		mem.printMissingMemoryNote(out)
	} else {
		mem.printMissingMemoryNote(nil)
	}
	again, err := mem.confirmStoringSecret(err)
	if again {
		return verbCall(ctx, w, in)
	}
	return out, err
}

// checkInputTexts returns an error if a text in the input of a verb is not valid UTF-8, or if a required text is empty.
// The list params describes the fields to check. The argument called in is a pointer to the input.
func checkInputTexts(params []verb.Param, in any) error {
	for _, p := range params {
		if err := p.CheckValue(in, p.Name); err != nil {
			return asUsageError(err)
		}
	}
	return nil
}

// printResult prints the result of a verb, as JSON or with showResult. It returns errAlreadyPrinted if the result
// itself reports a failure.
func printResult[Out any](mem *lazyMemory, out Out, showResult func(Out)) error {
	return mem.env.printOutput(out, func() { showResult(out) })
}

func (env *environment) printOutput(out any, showResult func()) error {
	if env.wantsJSON {
		if err := env.printJSON(verb.RewriteAnswerCommands(out, env.commandRewriter)); err != nil {
			return err
		}
	} else {
		env.showPaged(showResult)
	}
	if f, ok := out.(interface{ Failed() bool }); ok && f.Failed() {
		return errAlreadyPrinted
	}
	return nil
}

// setUpCommandGroup makes c a command that only groups its subcommands.
func setUpCommandGroup(c *cobra.Command) *cobra.Command {
	name := c.Name()
	c.Annotations = map[string]string{commandGroupAnnotation: "true"}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usageErrorf(
				"oxbow help "+name+" lists what there is",
				"unknown command %q for oxbow %s",
				args[0],
				name,
			)
		}
		return printGroupHelp(c)
	}
	return c
}

const commandGroupAnnotation = "group"

// isCommandGroup reports whether a command only groups its subcommands.
func isCommandGroup(c *cobra.Command) bool { return c.Annotations[commandGroupAnnotation] != "" }

// printGroupHelp prints the help of a command that only groups its subcommands. If --json is set, it returns an error,
// because help is text.
func printGroupHelp(c *cobra.Command) error {
	if asked, _ := c.Flags().GetBool("json"); asked {
		return usageErrorf(c.CommandPath()+" --help lists them", "%s --json needs a command", c.CommandPath())
	}
	return c.Help()
}
