// oxbow forget.

package command

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) forgetCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "forget NAME",
		Short: "Take an entry out of the memory",
		Long: `Forget takes an entry out of the memory. Its versions stay in the log: undo
brings it back, until the log is compacted. Layouts without a log lose it for
good, and forget says so.`,
		Example: `  oxbow forget style
  oxbow forget style --dry-run
  oxbow undo                   # brings it back`,
		Args: args(1, 1, "the name of one entry"),
	}, tool.Forget, positional, func(out tool.ForgetOut) {
		word := wordFor(!out.Forgotten, "forgot", "would forget")
		a.printf("%s %s\n", word, a.bold(nameText(out.Entry.Name)))
		a.showNotes(out.Notes)
	})
}
