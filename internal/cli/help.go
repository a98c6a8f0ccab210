// This file prints the help of commands: a short list for beginners, the list of all commands,
// and the flags that every command has.

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// firstCommands lists the commands in the help of oxbow itself, grouped by purpose. All commands
// are listed by "oxbow help all".
var firstCommands = []struct {
	wish  string
	names []string
}{
	{"See it work", []string{"demo"}},
	{"Keep and find", []string{"remember", "recall", "list", "get"}},
	{"Correct", []string{"edit", "forget", "undo", "ui"}},
	{"Use it with an agent", []string{"setup", "inbox"}},
	{"Bring in what you have", []string{"import"}},
	{"Find out what is wrong", []string{"doctor"}},
}

const (
	helpAll   = "all"   // word after help that lists all commands
	helpFlags = "flags" // word after help that lists the flags of every command
)

// helpCommand returns the command "oxbow help".
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Say how a command is used",
		Example: `  oxbow help recall
  oxbow help all          # all commands
  oxbow help flags        # the flags of every command`,
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == helpAll {
				a.printAllCommands(root)
				return nil
			}
			if len(args) == 1 && args[0] == helpFlags {
				fmt.Fprint(root.OutOrStdout(), "Flags of every command:\n"+a.flagLines(root.PersistentFlags()))
				return nil
			}
			c, rest, err := root.Find(args)
			if err != nil || (len(rest) > 0 && c == root) {
				return unknownCommand(root, args[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// printHelp prints the help of a command: usage and examples, then the description, then the
// flags of the command.
func (a *app) printHelp(c *cobra.Command) {
	if !c.HasParent() {
		a.printFirstCommands(c)
		return
	}
	var b strings.Builder
	usage := c.UseLine()
	if !c.Runnable() || c.HasAvailableSubCommands() {
		usage = c.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(&b, "Usage: %s\n", usage)
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(text))
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nCommands:\n%s", commandLines(c.Commands()))
	}
	if flags := a.flagLines(c.LocalNonPersistentFlags()); flags != "" {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags)
	}
	if c.Root().PersistentFlags().HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags of every command, such as --json and --home: %s help flags\n", c.Root().Name())
	}
	fmt.Fprint(c.OutOrStdout(), b.String())
}

// printFirstCommands prints the commands for beginners.
func (a *app) printFirstCommands(root *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(root.Long))
	for _, group := range firstCommands {
		fmt.Fprintf(&b, "\n%s:\n", group.wish)
		for _, name := range group.names {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	fmt.Fprintf(&b, "\nExamples:\n%s\n\n", root.Example)
	fmt.Fprintf(
		&b,
		"oxbow COMMAND --help shows how a command is used, oxbow help all lists all\ncommands, and oxbow help flags "+
			"lists the flags of every command.\n",
	)
	fmt.Fprint(root.OutOrStdout(), b.String())
}

// printAllCommands prints all commands by group.
func (a *app) printAllCommands(root *cobra.Command) {
	var b strings.Builder
	for i, group := range root.Groups() {
		if i > 0 {
			b.WriteByte('\n')
		}
		members := slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool {
			return c.GroupID != group.ID
		})
		fmt.Fprintf(&b, "%s\n%s", group.Title, commandLines(members))
	}
	fmt.Fprint(root.OutOrStdout(), b.String())
}

// commandLines returns a line with name and purpose for each visible command.
func commandLines(commands []*cobra.Command) string {
	width := 11
	for _, c := range commands {
		width = max(width, len(c.Name()))
	}
	var b strings.Builder
	for _, c := range commands {
		if c.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-*s %s\n", width, c.Name(), c.Short)
		}
	}
	return b.String()
}

// flagLines returns the lines that describe flags, wrapped to the width of the terminal.
func (a *app) flagLines(flags *pflag.FlagSet) string {
	const values = "[=true|false]" // added by pflag to every boolean flag
	return strings.ReplaceAll(flags.FlagUsagesWrapped(max(a.env.Width, 0)), values, strings.Repeat(" ", len(values)))
}
