// Arguments of commands: how many there are, and those that look like flags.

package cli

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// finish gives the commands below c what all have in common: unmarked arguments,
// and wrong ones as misuse.
func finish(c *cobra.Command) {
	for _, sub := range c.Commands() {
		finish(sub)
		finishOne(sub)
	}
}

func finishOne(c *cobra.Command) {
	if c.Args == nil && !c.HasSubCommands() && !strings.Contains(c.Use, " ") {
		c.Args = args(0, 0, "no arguments")
	}
	check, run := c.Args, c.RunE
	c.Args = func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, unmark(args)); err != nil {
			var m *misuse
			if errors.As(err, &m) {
				return err
			}
			return &misuse{err, "usage: " + cmd.UseLine()}
		}
		return nil
	}
	if run != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd, unmark(args)) }
	}
	c.Flags().SortFlags = false
}

// args returns a check for a number of arguments, said in words.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return misusef("usage: "+cmd.UseLine(), "%s needs %s", cmd.Name(), what)
		case most >= 0 && len(args) > most:
			return misusef("quote a text that has spaces in it; usage: "+cmd.UseLine(),
				"%s takes %s; %q is too much", cmd.Name(), what, args[most])
		}
		return nil
	}
}

// negated is a filter term such as -tag:draft, which the flag parser would
// take for a bundle of short flags.
var negated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[a-z][a-z0-9_-]*:`) })

// without is a word that recall is to leave out, such as -deploy: it has only the
// short flags -q and -h.
var without = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-([^-\s=]..|[^-qh\s=].|[qh][^qh])`) })

// mark stands before a marked argument. No argument of a process can hold a
// NUL, so it cannot be mistaken.
const mark = "\x00"

// markTerms hides negated filter terms and words from the flag parser, up to a "--".
// unmark and unmarkFlags undo it once the flags are parsed.
func markTerms(args []string) []string {
	marked := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(marked[i:], args[i:])
			break
		}
		marked[i] = arg
		if negated().MatchString(arg) || (slices.Contains(args[:i], "recall") && without().MatchString(arg)) {
			marked[i] = mark + arg
		}
	}
	return marked
}

func unmark(args []string) []string {
	for i, arg := range args {
		args[i] = strings.TrimPrefix(arg, mark)
	}
	return args
}

// unmarkFlags takes the mark off the values of flags: a term may stand there
// as well, as in --content -tag:draft.
func unmarkFlags(cmd *cobra.Command) error {
	var failed error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			if err := list.Replace(unmark(list.GetSlice())); err != nil {
				failed = err
			}
			return
		}
		if v := f.Value.String(); strings.HasPrefix(v, mark) {
			if err := f.Value.Set(strings.TrimPrefix(v, mark)); err != nil {
				failed = err
			}
		}
	})
	return failed
}

// noneEmpty refuses a flag that has no value, as a script's variable that is not set
// leaves it: without its bounds, keys or proofs a command does something else.
func noneEmpty(cmd *cobra.Command) error {
	var empty []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		if len(values) == 0 || slices.Contains(values, "") {
			empty = append(empty, "--"+f.Name)
		}
	})
	if len(empty) == 0 {
		return nil
	}
	return misusef(
		"leave "+empty[0]+" out, or give its value; a script's variable may be unset",
		"%s is empty",
		empty[0],
	)
}
