// This file implements the command "oxbow get".

package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/markdown"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func getCommand(mem *lazyMemory) *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use:   "get NAME[@SEQ]",
		Short: "Show an entry, or its version of change SEQ",
		Long: `Get prints an entry. On a terminal, it prints the facts about the entry, such
as labels and dates, and renders the Markdown of its content. In a pipe, or
with --raw, it prints only the content, byte for byte.`,
		Example: `  oxbow get style
  oxbow get style@3
  oxbow get runbook --raw > RUNBOOK.md`,
		Args: requireArgCount(1, 1, "the name of one entry"),
	}
	setUpVerbCommand(mem, c, verb.Get, func(in *verb.GetIn, _ *flagSet, args []string) error {
		in.Name, mem.env.noPager = args[0], mem.env.noPager || raw
		in.ContentOnly = (raw || !mem.env.IsStdoutTerminal) && !mem.env.wantsJSON
		return nil
	}, func(out verb.GetOut) {
		if !raw && mem.env.IsStdoutTerminal {
			mem.env.showEntry(out)
			return
		}
		if warning := mem.env.trustWarning(oxbow.Trust(out.TrustLevel)); warning != "" {
			mem.env.printNote("%s", strings.TrimSpace(warning))
		}
		to := mem.env.Stdout
		if s, ok := to.(*termtext.SafeWriter); ok {
			to = s.Output // Write the entry's exact bytes, without replacing harmful characters.
		}
		if out.Entry.Content != nil {
			_, _ = io.WriteString(to, *out.Entry.Content)
		}
	})
	c.Flags().BoolVar(&raw, "raw", false, "print only the content, with exactly the stored bytes")
	return c
}

// showEntry prints an entry on a terminal. It prints facts such as labels and dates, and then the content. It does not
// use a report, because the content is rendered as Markdown.
func (env *environment) showEntry(out verb.GetOut) {
	if warning := env.trustWarning(oxbow.Trust(out.TrustLevel)); warning != "" {
		env.printNote("%s", strings.TrimSpace(warning))
	}
	content := ""
	if out.Entry.Content != nil {
		content = *out.Entry.Content
	}
	env.showEntryHeader(out.Entry)
	for _, line := range (markdown.TerminalStyle{Width: env.textWidth(),
		WithColour: env.usesColour()}).Render(content) {
		env.printf("%s\n", line)
	}
	env.showNotes(out.Notes)
}
