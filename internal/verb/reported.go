// This file contains texts that the reports of several verbs share.

package verb

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// QuarantinedEntriesText returns a sentence that says that n entries wait for approval, and contains the command for
// approving them. Models do not get these entries before a person approves them. If approvalGroup is not "", the
// command approves only this group of entries.
func QuarantinedEntriesText(n int, approvalGroup string) report.OxbowText {
	command := "oxbow approve"
	if approvalGroup != "" {
		command += " --group " + approvalGroup
	}
	return report.OxbowText(text.FormatCount(n, "entry waits", "entries wait") + " for your approval: " + command)
}

// AdviceForListingChanges returns advice on how to list all entries that a call has changed. Normally it is a command
// that shows the change. A dry run makes no change, so the advice is to repeat the call with --json.
func AdviceForListingChanges(dryRun bool) report.OxbowText {
	return report.EffectVerb(dryRun, "oxbow log --limit 1 --json lists them all", "--json lists them all")
}
