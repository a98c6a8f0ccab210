// This file implements the command "oxbow forget".

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

func forgetCommand(mem *lazyMemory) *cobra.Command {
	return setUpErasureCommand(mem, &cobra.Command{
		Use:   "forget NAME",
		Short: "Remove an entry from the memory",
		Long: `Forget removes an entry from the memory. Its versions stay in the log, so undo
can restore the entry until the log is compacted. In a layout without a log,
the entry is lost for good. There, forget asks first, and without a terminal it
needs --yes.`,
		Example: `  oxbow forget style
  oxbow forget style --dry-run
  oxbow undo                   # brings it back`,
		Args: requireArgCount(1, 1, "the name of one entry"),
	}, erasureConfirmation[verb.ForgetIn, verb.ForgetOut]{
		command:       "forget",
		eraseVerb:     verb.Forget,
		toDryRunInput: func(in verb.ForgetIn) verb.ForgetIn { in.DryRun, in.OpID = true, ""; return in },
		questionFor: func(would verb.ForgetOut) string {
			if !would.IsFinalRemoval {
				return ""
			}
			return fmt.Sprintf(
				"Forget %q for good? This layout keeps no history.",
				replaceHarmfulChars(would.Entry.Name),
			)
		},
	}, func(in verb.ForgetIn) (bool, error) {
		_, isForeign, err := mem.finder.detectLayout()
		return isForeign && !in.DryRun, err
	}, setPositionalArgs, answerPrinter[verb.ForgetOut](mem))
}
