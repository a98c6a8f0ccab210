// This file contains parts that the reports of several verbs share.

package verb

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// HeldBackText says how many entries of an import are held back, and how to approve them.
func HeldBackText(n int, group string) report.Words {
	command := "oxbow approve"
	if group != "" {
		command += " --group " + group
	}
	return report.Words(text.FormatCount(n, "entry waits", "entries wait") + " for your approval: " + command)
}

// AllTouchedAdvice returns advice on how to list all entries that a call touched. Normally the log lists them. A
// dry run makes no change that the log could list, so the advice is then to repeat the call with --json.
func AllTouchedAdvice(dryRun bool) report.Words {
	return report.EffectVerb(dryRun, "oxbow log --limit 1 --json lists them all", "--json lists them all")
}
