// Questions before a command loses something that nothing can bring back.

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// loss is what a command asks before it calls a verb that loses something for good.
type loss[In, Out any] struct {
	command  string           // as a person types it, such as "scan --fix"
	verb     call[In, Out]    // called as a dry run to find out what would be lost
	dryRun   func(In) In      // changes the arguments into those of a dry run
	question func(Out) string // asks whether to lose what the dry run found; "" if that is nothing
}

// confirm asks the person at the terminal, unless --yes was given. Without a terminal to ask at
// it fails, so that a script says --yes.
func (l loss[In, Out]) confirm(ctx context.Context, a *app, in In, isConfirmed bool) error {
	if isConfirmed {
		return nil
	}
	would, err := run(ctx, a, l.verb, l.dryRun(in))
	if err != nil {
		return err
	}
	question := l.question(would)
	if question == "" {
		return nil
	}
	if !a.env.StdinTerm || !a.env.StderrTerm {
		return misusef("add --yes, or look first with --dry-run",
			"what %s erases cannot be brought back, and there is no terminal to ask at; nothing was changed", l.command)
	}
	return a.confirm(question)
}

// addYes gives a command the flag --yes, which answers its question beforehand.
func addYes(c *cobra.Command) *bool {
	return c.Flags().BoolP("yes", "y", false, "do not ask")
}

// erases makes c call the verb, and ask before it if mayLose reports that the call may lose
// something for good. The flags of c are the fields of In, into which arguments puts what
// stands without a flag.
func erases[In, Out any](a *app, c *cobra.Command, l loss[In, Out], mayLose func(In) (bool, error),
	arguments func(*In, *flagSet, []string) error, show func(Out)) *cobra.Command {
	var isConfirmed *bool
	decodes(c, arguments, func(ctx context.Context, in In) error {
		isRisky, err := mayLose(in)
		if err != nil {
			return err
		}
		if isRisky {
			if err := l.confirm(ctx, a, in, *isConfirmed); err != nil {
				return err
			}
		}
		return perform(ctx, a, l.verb, in, show)
	})
	isConfirmed = addYes(c)
	return c
}

// eraseQuestion asks whether to erase a number of things.
func eraseQuestion(n int, one, many, of string) string {
	return fmt.Sprintf("Erase %s of %s for good?", count(n, one, many), of)
}
