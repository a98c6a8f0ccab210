// This file contains parts that the reports of several verbs share.

package verb

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// HeldBack says how many entries of an import are held back, and how to approve them.
func HeldBack(n int, group string) report.Words {
	command := "oxbow approve"
	if group != "" {
		command += " --group " + group
	}
	return report.Words(text.Count(n, "entry waits", "entries wait") + " for your approval: " + command)
}

// AllTouched returns advice on how to list all entries that a call touched. Normally the log lists them. A dry run
// makes no change that the log could list, so the advice is then to repeat the call with --json.
func AllTouched(dryRun bool) report.Words {
	return report.Did(dryRun, "oxbow log --limit 1 --json lists them all", "--json lists them all")
}
