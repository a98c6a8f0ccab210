// This file prints help: a short command list for beginners, the list of all commands, and the flags that every
// command has.

package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shortHelpCommands lists the commands that the help of oxbow itself shows, by purpose. The command "oxbow help all"
// lists all commands.
var shortHelpCommands = []struct {
	wish  string
	names []string
}{
	{"Try it", []string{"demo"}},
	{"Keep and find", []string{"remember", "recall", "list", "get"}},
	{"Correct", []string{"edit", "forget", "undo", "ui"}},
	{"Use it with an agent", []string{"setup", "inbox"}},
	{"Import what you have", []string{"import"}},
	{"Find problems", []string{"doctor"}},
}

// similarCommands lists groups of commands that people may confuse. A command's help lists all further commands in its
// groups. Their short descriptions make the difference clear.
var similarCommands = [][]string{
	{"forget", "redact", "compact"},
	{"undo", "restore", "revert", "recover"},
	{"backup", "export", "dump", "push", "convert"},
	{"import", "load", "folder"},
	{"push", "pull", "team"},
	{"doctor", "check", "scan"},
	{"inbox", "approve", "changed"},
	{"inject", "injected", "context"},
	{"consolidate", "compress", "compact"},
	{"ui", "serve", "mcp"},
	{"recall", "list", "get"},
	{"session", "archive"},
	{"fix", "how"},
	{"annotate", "why", "blame"},
	{"log", "changed", "lineage"},
}

// similarCommandNames returns the names of commands that people may confuse with a command, ordered as in
// similarCommands.
func similarCommandNames(name string) (similar []string) {
	for _, names := range similarCommands {
		if !slices.Contains(names, name) {
			continue
		}
		for _, other := range names {
			if other != name && !slices.Contains(similar, other) {
				similar = append(similar, other)
			}
		}
	}
	return similar
}

const (
	helpAllCommands      = "all"   // word after "help" that lists all commands
	commonFlagsHelpTopic = "flags" // word after "help" that lists the flags of every command
)

// helpCommand returns the command "oxbow help".
func helpCommand(env *environment, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show how to use a command",
		Example: `  oxbow help recall
  oxbow help all          # all commands
  oxbow help flags        # the flags of every command`,
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == helpAllCommands {
				env.printAllCommands(root)
				return nil
			}
			if len(args) == 1 && args[0] == commonFlagsHelpTopic {
				fmt.Fprint(root.OutOrStdout(), "Flags of every command:\n"+env.flagLines(root.PersistentFlags()))
				return nil
			}
			c, rest, err := root.Find(args)
			isUnknown := len(rest) > 0 && c == root
			if err != nil || isUnknown {
				return unknownCommandError(root, args)
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// maxHelpRows is the number of rows above the flags for a command's usage, examples, description and subcommands. The
// part of the description that does not fit is printed below the flags.
const maxHelpRows = 24

// helpParagraphs returns the paragraphs of a command's description. Each ends with a newline and is wrapped to the
// terminal's width. A paragraph that begins with a space, such as a table, is not wrapped, and is joined with the
// paragraph before it.
func (env *environment) helpParagraphs(c *cobra.Command) (all []string) {
	text := strings.TrimSpace(c.Long)
	if text == "" {
		text = c.Short + "."
	}
	for p := range strings.SplitSeq(text, "\n\n") {
		switch isTable := strings.HasPrefix(p, " "); {
		case isTable && len(all) > 0:
			all[len(all)-1] += "\n" + p + "\n"
			continue
		case !isTable && env.TerminalWidth >= 20:
			p = strings.Join(wrapText(strings.Join(strings.Fields(p), " "), env.textWidth()), "\n")
		}
		all = append(all, p+"\n")
	}
	return all
}

// splitParagraphs joins paragraphs to two texts. The text first contains as many paragraphs as fit into the given
// number of rows, but at least one. The text rest contains the remaining paragraphs, or is "". In both texts, an empty
// line separates the paragraphs. The text first also begins with an empty line.
func splitParagraphs(paragraphs []string, rows int) (first, rest string) {
	for i, p := range paragraphs {
		p = "\n" + p
		isLater := rest != "" || strings.Count(first+p, "\n") > rows
		if i > 0 && isLater {
			rest += p
			continue
		}
		first += p
	}
	return first, strings.TrimPrefix(rest, "\n")
}

// usageLines returns the lines that show how to call a command, by itself and with its subcommands.
func usageLines(c *cobra.Command) (lines []string) {
	if c.Runnable() && !isCommandGroup(c) {
		lines = append(lines, c.UseLine())
	}
	if c.HasAvailableSubCommands() || len(lines) == 0 {
		lines = append(lines, c.CommandPath()+" COMMAND")
	}
	return lines
}

// printHelp prints a command's help. It prints the usage, the examples and the description, then the flags, then the
// rest of a long description, and finally the related commands.
func (env *environment) printHelp(c *cobra.Command, relatedCommands []*cobra.Command) {
	if !c.HasParent() {
		env.printBeginnerHelp(c)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s\n", strings.Join(usageLines(c), "\n       "))
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	commands := ""
	if c.HasAvailableSubCommands() {
		commands = "\nCommands:\n" + env.formatCommandList(c.Commands())
	}
	first, details := splitParagraphs(env.helpParagraphs(c), maxHelpRows-strings.Count(b.String()+commands, "\n"))
	fmt.Fprintf(&b, "%s%s", first, commands)
	if flags := env.flagLines(c.LocalNonPersistentFlags()); flags != "" {
		fmt.Fprintf(&b, "\nFlags:\n%s", flags)
	}
	if details != "" {
		fmt.Fprintf(&b, "\nDetails:\n%s", details)
	}
	if len(relatedCommands) > 0 {
		fmt.Fprintf(&b, "\nSimilar commands:\n%s", env.formatCommandList(relatedCommands))
	}
	if c.Root().PersistentFlags().HasAvailableFlags() {
		fmt.Fprintf(&b, "\nFlags of every command, such as --json and --home: %s help flags\n", c.Root().Name())
	}
	fmt.Fprint(c.OutOrStdout(), b.String())
}

// printBeginnerHelp prints the commands for beginners.
func (env *environment) printBeginnerHelp(root *cobra.Command) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", strings.TrimSpace(root.Long))
	for _, group := range shortHelpCommands {
		fmt.Fprintf(&b, "\n%s:\n", group.wish)
		for _, name := range group.names {
			if c, _, err := root.Find([]string{name}); err == nil && c != root {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), env.wrapWithIndent(c.Short, 14))
			}
		}
	}
	fmt.Fprintf(&b, "\nExamples:\n%s\n\n", root.Example)
	fmt.Fprintf(
		&b,
		"oxbow recall --help shows how recall is used, oxbow help all lists all commands,\nand oxbow help flags "+
			"lists the flags of every command.\n",
	)
	fmt.Fprint(root.OutOrStdout(), b.String())
}

// printAllCommands prints all commands by group.
func (env *environment) printAllCommands(root *cobra.Command) {
	var b strings.Builder
	for i, group := range root.Groups() {
		if i > 0 {
			b.WriteByte('\n')
		}
		members := slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool {
			return c.GroupID != group.ID
		})
		fmt.Fprintf(&b, "%s\n%s", group.Title, env.formatCommandList(members))
	}
	fmt.Fprint(root.OutOrStdout(), b.String())
}

// formatCommandList returns a list of the visible commands. Each command has a line of its own, which contains the
// command's name and its purpose.
func (env *environment) formatCommandList(commands []*cobra.Command) string {
	width := 11
	for _, c := range commands {
		width = max(width, len(c.Name()))
	}
	var b strings.Builder
	for _, c := range commands {
		if c.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-*s %s\n", width, c.Name(), env.wrapWithIndent(c.Short, width+3))
		}
	}
	return b.String()
}

// wrapWithIndent wraps the text s, whose first line begins in the column column. It indents all further lines, so that
// they begin in the same column.
func (env *environment) wrapWithIndent(s string, column int) string {
	room := max(env.textWidth()-column, 20)
	return strings.Join(wrapText(s, room), "\n"+strings.Repeat(" ", column))
}

// flagLines returns the lines that describe flags, wrapped to the width of the terminal.
func (env *environment) flagLines(flags *pflag.FlagSet) string {
	const values = "[=true|false]" // Package pflag adds this text to every boolean flag. The help must not show it.
	return strings.ReplaceAll(
		flags.FlagUsagesWrapped(max(env.TerminalWidth, 0)),
		values,
		strings.Repeat(" ", len(values)),
	)
}
