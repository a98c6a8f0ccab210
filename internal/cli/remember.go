// This file implements the command "oxbow remember".

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

func rememberCommand(mem *lazyMemory) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "remember [NAME [TEXT]]",
		Short: "Add an entry, or update the entry with this name",
		Long: `Remember stores a text under a name. The text is the second argument, or comes
from --content, a file or standard input. If you give only a text, oxbow makes
the name from its first line. A single argument counts as a text if it contains
a space, unless an entry has this name or standard input contains a text.

If the name is in use, the entry is updated. Tags, aliases and the project stay
unchanged if you leave them out. You can also change only labels and aliases.
--tag a,b adds two tags. An alias belongs to a single entry. --project auto
uses the project of the working directory, which oxbow label project prints.`,
		Example: `  oxbow remember style "Tabs, not spaces."
  oxbow remember "We ship on Tuesdays."
  oxbow remember style --content "Tabs." --tag go --project site --alias tabs
  oxbow remember runbook --file RUNBOOK.md
  git log -1 --format=%B | oxbow remember --tag commit`,
		Args: func(cmd *cobra.Command, words []string) error {
			if len(words) > 2 {
				return usageErrorf("quote the text: oxbow remember "+shellQuote(strings.Join(words, " ")),
					"%d words are too many for a NAME and a TEXT", len(words))
			}
			return nil
		},
	}
	setUpReportCommand(mem, c, verb.Remember, func(in *verb.RememberIn, f *flagSet, args []string) (err error) {
		if len(args) > 0 {
			in.Name = args[0]
			if strings.TrimSpace(in.Name) == "" {
				return usageErrorf(
					"leave it out to have one made from the first line: oxbow remember TEXT",
					"the name is empty",
				)
			}
		}
		in.Content, err = mem.env.readContent(in.Content, f.wasGiven("content"), file, args)
		if err != nil {
			return err
		}
		hasContent := strings.TrimSpace(in.Content) != "" || f.wasGiven("content") || file != ""
		if len(args) == 1 && !hasContent {
			in.NameOrContent = args[0]
			in.Name = ""
			in.Content = ""
		}
		in.Project, err = mem.env.resolveProject(in.Project)
		return err
	})
	c.Flags().StringVarP(
		&file,
		"file",
		"f",
		"",
		"read the content from `FILE`, without a byte order mark; - is standard input",
	)
	return c
}

// readContent returns the text to remember. The text is an argument, the value of a flag, a file or standard input. It
// returns an error if more than one of these is given.
func (env *environment) readContent(flagValue string, isFlagGiven bool, file string, args []string) (string, error) {
	given := 0
	for _, is := range []bool{len(args) == 2, isFlagGiven, file != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return "", usageErrorf("give one of TEXT, --content and --file", "the content is given twice")
	case len(args) == 2 && args[1] != "-":
		return args[1], nil
	case isFlagGiven && flagValue != "-":
		return flagValue, nil
	case file != "":
		return env.readFile(file)
	case given == 0 && env.IsStdinTerminal && len(args) == 1:
		return "", nil // The only argument is a text, not a name. The caller uses it as the content.
	case given == 0 && env.IsStdinTerminal:
		return "", usageErrorf(
			"for example: oxbow remember style \"Tabs, not spaces.\"",
			"there is nothing to remember: no content is given",
		)
	}
	return env.readStdin()
}
