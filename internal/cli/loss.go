// This file asks the person before a command erases data that cannot be restored.

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// erasureConfirmation describes how a person confirms the call of a verb that may erase data for good.
type erasureConfirmation[In, Out any] struct {
	command       string            // command as the person types it, such as "scan --fix"
	eraseVerb     verbFunc[In, Out] // verb that erases, which is first called as a dry run
	toDryRunInput func(In) In       // returns the input for a dry run
	// returns the question for the result of the dry run ("" if nothing would be erased)
	questionFor func(Out) string
}

// confirmErasure asks the person whether to erase the data. It does not ask if isConfirmed is set, which is the
// flag --yes. Without a terminal, it returns an error, so that a script must use --yes.
func (l erasureConfirmation[In, Out]) confirmErasure(
	ctx context.Context,
	mem *lazyMemory,
	in In,
	isConfirmed bool,
) error {
	if isConfirmed {
		return nil
	}
	would, err := callVerb(ctx, mem, l.eraseVerb, l.toDryRunInput(in))
	if err != nil {
		return err
	}
	question := l.questionFor(would)
	if question == "" {
		return nil
	}
	if !mem.env.IsStdinTerminal || !mem.env.IsStderrTerminal {
		return usageErrorf(
			"add --yes, or look first with --dry-run",
			"what %s erases cannot be brought back, and there is no terminal to ask at; nothing was changed",
			l.command,
		)
	}
	return mem.env.confirm(question)
}

// addYesFlag adds the flag --yes to a command, and returns its value. With this flag, the command does not ask.
func addYesFlag(c *cobra.Command) *bool {
	return c.Flags().BoolP("yes", "y", false, "do not ask")
}

// setUpErasureCommand makes the command c call a verb that may erase data, and returns c.
//
// The flags of c and the function fillFromArgs fill the verb's input. fillFromArgs uses the arguments on the command
// line. If canErase returns true for the input, the person must confirm the erasure before the verb is called. The
// argument confirmation contains the verb and the question. The person can confirm in advance with the flag that
// addYesFlag adds to c. The function show prints the verb's result.
func setUpErasureCommand[In, Out any](
	mem *lazyMemory,
	c *cobra.Command,
	confirmation erasureConfirmation[In, Out],
	canErase func(In) (bool, error),
	fillFromArgs func(*In, *flagSet, []string) error,
	show func(Out),
) *cobra.Command {
	var isConfirmed *bool
	setUpInputCommand(c, fillFromArgs, func(ctx context.Context, in In) error {
		isRisky, err := canErase(in)
		if err != nil {
			return err
		}
		if isRisky {
			if err := confirmation.confirmErasure(ctx, mem, in, *isConfirmed); err != nil {
				return err
			}
		}
		return callAndPrint(ctx, mem, confirmation.eraseVerb, in, show)
	})
	isConfirmed = addYesFlag(c)
	return c
}

// formatEraseQuestion returns the question whether to erase n things of the owner. singular and plural are the two
// forms of the noun for these things.
func formatEraseQuestion(n int, singular, plural, owner string) string {
	return fmt.Sprintf("Erase %s of %s for good?", formatCount(n, singular, plural), owner)
}
