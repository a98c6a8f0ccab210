// This file suggests the command or the flag that a person probably meant by an unknown word.

package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/setup"
)

// unknownCommandError returns an error for unknown words. It suggests the command that the person may have meant.
func unknownCommandError(root *cobra.Command, words []string) error {
	word := words[0]
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	// Map names that other programs use for their commands to the oxbow commands that do the same.
	other := map[string]string{
		"add": "remember", "save": "remember", "store": "remember", "set": "remember", "new": "remember",
		"note":  "remember",
		"entry": "list", "entries": "list", "notes": "list", "memories": "list",
		"tag": "label add", "pin": "label add pinned:true", "tags": "label list",
		"install": "setup", "connect": "setup", "configure": "setup", "config": "setup", "client": "setup",
		"search": "recall", "find": "recall", "query": "recall", "show": "get", "cat": "get", "read": "get",
		"ls": "list",
		"rm": "forget", "delete": "forget", "remove": "forget", "serve": "mcp", "verify": "check", "fsck": "check",
		"status": "stats", "info": "stats", "vacuum": "compact", "gc": "compact",
		"erase": "redact", "purge": "redact", "shred": "redact", "copy": "backup", "snapshot": "backup",
		"repair": "recover", "salvage": "recover", "mend": "doctor", "diagnose": "doctor", "health": "doctor",
	}
	if c := setup.FindClient(word); c != nil {
		return usageErrorf("did you mean: oxbow setup "+c.Name, "unknown command %q", word)
	}
	if name, ok := other[word]; ok {
		return usageErrorf("did you mean: oxbow "+name, "unknown command %q", word)
	}
	if near := text.FindSimilar(word, slices.Values(names), 1); len(near) > 0 {
		return usageErrorf("did you mean: oxbow "+near[0], "unknown command %q", word)
	}
	return usageErrorf(
		"to search the memory: oxbow recall "+quoteShellWords(words)+"; oxbow help all lists the commands",
		"unknown command %q",
		word,
	)
}

// quoteShellWords returns the words as a person would type them in a shell.
func quoteShellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}

// similarFlags returns the flag that the person may have meant by an unknown word. The result has at most one element,
// and is empty if no flag is similar. The list names contains the names of the command's flags. The word "layout"
// always means the flag --dialect, or --to for the command "oxbow convert", because the documentation calls the values
// of these flags layouts.
func similarFlags(cmd *cobra.Command, word string, names []string) []string {
	switch {
	case word == "layout" && cmd.Name() == "convert":
		return []string{"to"}
	case word == "layout":
		return []string{"dialect"}
	}
	return text.FindSimilar(word, slices.Values(names), 1)
}

// flagErrorWithHint converts an error about a flag to an error with a hint. If the flag is unknown, the hint suggests
// the flag that the person may have meant. Without a suggestion, the hint names the command that lists the flags.
func flagErrorWithHint(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	hint := cmd.CommandPath() + " --help lists its flags"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		word := unknown.GetSpecifiedName()
		var names, near []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			names = append(names, f.Name)
			p, isParam := f.Value.(*paramFlag)
			if isParam && slices.Contains(p.param.OtherNames, strings.ReplaceAll(word, "-", "_")) {
				near = append(near, f.Name) // The MCP tools accept this word as another name of the flag's parameter.
			}
		})
		if len(near) == 0 {
			near = similarFlags(cmd, word, names)
		}
		if len(near) > 0 {
			return usageErrorf("did you mean: --"+near[0], "unknown flag --%s", word)
		}
		return usageErrorf(hint, "unknown flag --%s", word)
	}
	isNumber := unknown != nil && strings.Trim(unknown.GetSpecifiedShortnames(), "0123456789") == ""
	before := " "
	if cmd.Flags().Lookup("limit") != nil {
		before = " --limit "
	}
	takesNumber := before != " " || cmd.Name() == "undo"
	if isNumber && takesNumber {
		hint = "did you mean: " + cmd.CommandPath() + before + unknown.GetSpecifiedShortnames()
	}
	message := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "\n", " "), nonFlagArgPrefix, "")
	return usageErrorf(hint, "%s", message)
}
