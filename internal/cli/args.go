// This file checks the number of arguments and handles arguments that look like flags.

package cli

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// finish prepares all commands below c. It unmarks the commands' arguments, and reports wrong
// arguments as misuse.
func finish(c *cobra.Command) {
	for _, sub := range c.Commands() {
		finish(sub)
		finishOne(sub)
	}
}

func finishOne(c *cobra.Command) {
	if c.Args == nil && !c.HasSubCommands() && !strings.Contains(c.Use, " ") {
		c.Args = argCount(0, 0, "no arguments")
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

// argCount returns a check that there are between minArgs and maxArgs arguments. A negative maxArgs means no
// upper limit. what describes the expected arguments in the error, and "" means that there are none.
func argCount(minArgs, maxArgs int, what string) cobra.PositionalArgs {
	what = cmp.Or(what, "no arguments")
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minArgs:
			return misusef("usage: "+cmd.UseLine(), "%s needs %s", cmd.Name(), what)
		case maxArgs >= 0 && len(args) > maxArgs:
			return misusef("quote a text that has spaces in it; usage: "+cmd.UseLine(),
				"%s takes %s; %q is too much", cmd.Name(), what, args[maxArgs])
		}
		return nil
	}
}

// negated matches a filter term such as -tag:draft, which the flag parser would read as several
// short flags.
var negated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[a-z][a-z0-9_-]*:`) })

// without matches a word that recall must exclude, such as -deploy. The only short flags of
// recall are -q and -h.
var without = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-([^-\s=]..|[^-qh\s=].|[qh][^qh])`) })

// mark is the prefix of a marked argument. It is unambiguous because an argument of a process
// cannot contain a NUL byte.
const mark = "\x00"

// markTerms marks negated filter terms and words before an argument "--", so that the flag parser
// does not treat them as flags. After parsing, unmark and unmarkFlags remove the marks.
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

// unmarkFlags removes marks from flag values, because a marked term may also be a flag value, as
// in --content -tag:draft.
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

// noneEmpty returns an error if a flag has an empty value, which may come from an unset variable
// of a script. Without its limits, keys or proofs a command would do something else.
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
