// This file checks the number of arguments, and handles arguments that look like flags.

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

// wrapArgumentChecks wraps the argument check (the field Args) of each command below c. The new check first removes the
// prefix nonFlagArgPrefix from the arguments, which markNonFlagArgs has added. Then it calls the old check. If the old
// check fails, the new check returns a usage error. A command without subcommands, and without arguments in its usage
// line, gets a check that accepts no arguments.
func wrapArgumentChecks(c *cobra.Command) {
	for _, sub := range c.Commands() {
		wrapArgumentChecks(sub)
		isBare := !sub.HasSubCommands() && !strings.Contains(sub.Use, " ")
		if isBare && sub.Args == nil {
			sub.Args = requireArgCount(0, 0, "no arguments")
		}
		check := sub.Args
		sub.Args = func(cmd *cobra.Command, args []string) error {
			// RunE receives the same slice. removeArgumentPrefixes changes its elements, so that RunE gets the
			// arguments without the prefix.
			removeArgumentPrefixes(args)
			if check == nil {
				return nil
			}
			err := check(cmd, args)
			if _, isMisuse := errors.AsType[*usageError](err); err == nil || isMisuse {
				return err
			}
			return &usageError{err, "usage: " + cmd.UseLine()}
		}
		sub.Flags().SortFlags = false
	}
}

// requireArgCount returns a function that checks the number of arguments, which must be from minArgs to maxArgs. A
// negative maxArgs means no upper limit. The function's error contains description, which describes the expected
// arguments. If the command accepts no arguments, description is "".
func requireArgCount(minArgs, maxArgs int, description string) cobra.PositionalArgs {
	description = cmp.Or(description, "no arguments")
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minArgs:
			return usageErrorf("usage: "+cmd.UseLine(), "%s needs %s", cmd.Name(), description)
		case maxArgs >= 0 && len(args) > maxArgs:
			return usageErrorf("quote a text that has spaces in it; usage: "+cmd.UseLine(),
				"%s takes %s; %q is too much", cmd.Name(), description, args[maxArgs])
		}
		return nil
	}
}

// negatedTermPattern matches a negated filter term such as -tag:draft. The flag parser would take it for several short
// flags.
var negatedTermPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[a-z][a-z0-9_-]*:`) })

// recallExclusionPattern matches an argument with which the command "recall" excludes a word, such as -deploy. The
// argument cannot be a short flag, because the only short flags of this command are -q and -h.
var recallExclusionPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^-([^-\s=]..|[^-qh\s=].|[qh][^qh])`) },
)

// nonFlagArgPrefix is the prefix that marks an argument. It never occurs in an argument, because a NUL byte ends each
// argument of a process.
const nonFlagArgPrefix = "\x00"

// markNonFlagArgs returns a copy of the arguments of the program. It puts the prefix nonFlagArgPrefix before each
// argument that begins with a minus sign but is not a flag. Therefore the flag parser does not read such an argument as
// a flag. These arguments are negated filter terms such as -tag:draft and, after the command recall, excluded words
// such as -deploy. Arguments after "--" are not changed. When the flags were parsed, removeArgumentPrefixes and
// checkFlagValues remove the prefix.
func markNonFlagArgs(args []string) []string {
	marked := make([]string, len(args))
	for i, arg := range args {
		if arg == "--" {
			copy(marked[i:], args[i:])
			break
		}
		marked[i] = arg
		isMinusWord := slices.Contains(args[:i], "recall") && recallExclusionPattern().MatchString(arg)
		if isMinusWord || negatedTermPattern().MatchString(arg) {
			marked[i] = nonFlagArgPrefix + arg
		}
	}
	return marked
}

// removeArgumentPrefixes removes the prefix nonFlagArgPrefix from all arguments, and returns the same slice.
func removeArgumentPrefixes(args []string) []string {
	for i, arg := range args {
		args[i] = strings.TrimPrefix(arg, nonFlagArgPrefix)
	}
	return args
}

// checkFlagValues returns an error if a flag of the command has an empty value. The value may come from a variable that
// a script did not set. Without the check, the command would run as if the flag had not been given, for example without
// a limit.
//
// checkFlagValues also removes the prefix nonFlagArgPrefix from the values. markNonFlagArgs adds this prefix to
// arguments such as -tag:draft, and such an argument may be the value of a flag, as in --content -tag:draft.
func checkFlagValues(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			values = list.GetSlice()
		}
		hasMark := slices.ContainsFunc(values, func(v string) bool { return strings.HasPrefix(v, nonFlagArgPrefix) })
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case err != nil:
		case len(values) == 0 || slices.Contains(values, ""):
			err = usageErrorf(
				"leave --"+f.Name+" out, or give its value; a script's variable may be unset",
				"--%s is empty",
				f.Name,
			)
		case hasMark && isList:
			err = list.Replace(removeArgumentPrefixes(values))
		case hasMark:
			err = f.Value.Set(strings.TrimPrefix(values[0], nonFlagArgPrefix))
		}
	})
	return err
}
