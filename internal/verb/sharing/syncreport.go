// This file formats the results of the commands "push", "pull" and "team trust" as reports.

package sharing

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxListedChanges is the largest number of changes that a report of "oxbow push" or "oxbow pull" lists individually.
// If there are more changes, they are listed only in a dry run.
const maxListedChanges = 20

// PushReport reports the sent changes, and which entries were not sent and why.
func (o SyncChangesOut) PushReport() report.Report {
	r := o.changesReport("push", report.EffectVerb(o.DryRun, "pushed", "would push"))
	for _, p := range o.RefusedEntries {
		r.AddNotef("stays here: %s", report.QuotedText(p.Reason))
	}
	both := 0
	for _, p := range o.WaitingEntries {
		if p.IsConflict {
			both++
			r.Warnf("%s waits: both sides changed it", report.EntryName(p.EntryName))
		} else {
			r.Warnf("%s was refused: %s", report.EntryName(p.EntryName), report.QuotedText(p.Reason))
		}
	}
	switch {
	case both > 0:
		r.AddNotef("pull first, then push: oxbow pull")
	case o.PullableEntryCount > 0:
		r.AddNotef("the server has %s that this home has not: oxbow pull",
			report.OxbowText(text.FormatCount(o.PullableEntryCount, "change", "changes")))
	}
	o.addIgnoredRemovalsNote(&r)
	return r
}

// PullReport reports the changes that were merged into the home, and which entries have conflicts.
func (o SyncChangesOut) PullReport() report.Report {
	r := o.changesReport("pull", report.EffectVerb(o.DryRun, "pulled", "would pull"))
	for _, c := range o.Changes {
		if c.IsConflict {
			r.Warnf("%s has a conflict: both texts are kept", report.EntryName(c.Name))
		}
	}
	for _, taken := range o.AliasesOfOtherEntries {
		r.Warnf("%s", report.QuotedText(taken.String()))
	}
	if o.CountConflicts() > 0 {
		r.AddNotef(
			"settle each with oxbow edit NAME: choose what is right, and take the comments and the label conflict " +
				"away; oxbow list conflict:content lists them",
		)
	}
	o.addIgnoredRemovalsNote(&r)
	if o.CanUndo {
		r.AddNotef("undo it with: oxbow undo")
	}
	return r
}

// addIgnoredRemovalsNote adds a note about entries that are missing in the home or on the server but do not count as
// removed.
func (o SyncChangesOut) addIgnoredRemovalsNote(r *report.Report) {
	if o.IgnoredRemovalCount > 0 {
		r.AddNotef(
			"%s missing on one side: a history was rewritten or is another, and what is missing does not count as "+
				"removed",
			report.OxbowText(text.FormatCount(o.IgnoredRemovalCount, "entry is", "entries are")),
		)
	}
}

// changesReport says how many entries were changed. In a dry run, or after few changes, it lists the entries.
func (o SyncChangesOut) changesReport(dryRunText, doneText report.OxbowText) (r report.Report) {
	marks := map[string]report.OxbowText{"add": "+", "update": "~", "remove": "-"}
	n := map[string]int{}
	for _, c := range o.Changes {
		n[c.ChangeVerb]++
		if !o.DryRun && len(o.Changes) > maxListedChanges {
			continue
		}
		if c.OldName == "" {
			r.AddLinef("%s %s", marks[c.ChangeVerb], report.EntryName(c.Name))
		} else {
			r.AddLinef("%s %s (was %s)", marks[c.ChangeVerb], report.EntryName(c.Name), report.EntryName(c.OldName))
		}
	}
	if o.ServerNotRecordedReason != "" {
		r.Warnf("the server is not remembered: %s", report.QuotedText(o.ServerNotRecordedReason))
	}
	if len(o.Changes) == 0 {
		r.AddNotef("nothing to %s: %s", dryRunText, o.Server)
		return r
	}
	r.AddLinef("%s: %d added, %d updated, %d removed", doneText, n["add"], n["update"], n["remove"])
	return r
}

// Report says whether the team files are trusted, or lists all trusted repositories.
func (o TeamTrustOut) Report() (r report.Report) {
	switch {
	case o.TrustedRepository == "":
		for _, tree := range o.Teams {
			r.AddLinef("%s  since %s", tree.ID, tree.RecordTime)
		}
		if len(o.Teams) == 0 {
			r.AddNotef("no repository's team files are trusted")
		}
	case o.Outcome == "":
		r.AddLinef("nothing was changed: %s", o.TrustedRepository)
	default:
		did := report.OxbowText(o.Outcome)
		if o.DryRun {
			did = "would " + report.EffectVerb(o.Outcome == "forgotten", "trust", "forget")
		}
		r.AddLinef("%s: %s", did, o.TrustedRepository)
		if len(o.Names) > 0 {
			r.AddNotef(
				"%s: %s",
				text.FormatCount(o.EntryCount, "entry", "entries"),
				report.QuotedText(o.DescribeEntryNames()),
			)
		}
	}
	return r
}
