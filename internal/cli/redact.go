// This file implements the command "oxbow redact".

package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func redactCommand(mem *lazyMemory) *cobra.Command {
	return setUpErasureCommand(mem, &cobra.Command{
		Use:   "redact NAME",
		Short: "Erase an entry and all its versions for good",
		Long: `Redact erases an entry and all its versions from the file, for example a
password that you stored by mistake. You cannot undo this. To remove an entry
so that you can restore it, use forget. The rest of the log stays unchanged,
and log --verify still works. Redact lists the places that it cannot reach,
such as backups.`,
		Example: `  oxbow redact 'db password' --dry-run
  oxbow redact 'db password'
  oxbow redact 'db password' --yes     # does not ask`,
		Args: requireArgCount(1, 1, "the name of one entry"),
	}, erasureConfirmation[maintenance.RedactIn, maintenance.RedactOut]{
		command:       "redact",
		eraseVerb:     maintenance.Redact,
		toDryRunInput: func(in maintenance.RedactIn) maintenance.RedactIn { in.DryRun = true; return in },
		questionFor: func(would maintenance.RedactOut) string {
			return formatEraseQuestion(
				would.Versions,
				"version",
				"versions",
				strconv.Quote(replaceHarmfulChars(would.Name)),
			)
		},
	}, func(in maintenance.RedactIn) (bool, error) {
		return !in.DryRun, mem.finder.requireOxbowLayout("redact")
	}, setPositionalArgs, answerPrinter[maintenance.RedactOut](mem))
}
