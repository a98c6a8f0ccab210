// This file describes the answers of push, pull and team trust.

package sharing

import (
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxListed is the number of changes up to which push and pull list each change.
const maxListed = 20

// PushReport tells what was pushed, and what waits or was refused.
func (o SyncOut) PushReport() report.Report {
	r := o.report("push", report.Did(o.DryRun, "pushed", "would push"))
	for _, p := range o.Kept {
		r.Notef("stays here: %s", report.Text(p.Why))
	}
	both := 0
	for _, p := range o.Waiting {
		if p.Both {
			both++
			r.Warnf("%s waits: both sides changed it", report.Name(p.Name))
		} else {
			r.Warnf("%s was refused: %s", report.Name(p.Name), report.Text(p.Why))
		}
	}
	switch {
	case both > 0:
		r.Notef("pull first, then push: oxbow pull")
	case o.Behind > 0:
		r.Notef("the server has %s that this home has not: oxbow pull",
			report.Words(text.Count(o.Behind, "change", "changes")))
	}
	o.noteReturns(&r)
	return r
}

// PullReport tells what was pulled, and which entries have conflicts.
func (o SyncOut) PullReport() report.Report {
	r := o.report("pull", report.Did(o.DryRun, "pulled", "would pull"))
	for _, c := range o.Changes {
		if c.Conflict {
			r.Warnf("%s has a conflict: both texts are kept", report.Name(c.Name))
		}
	}
	for _, taken := range o.Taken {
		r.Warnf("%s", report.Text(taken.String()))
	}
	if o.Conflicts() > 0 {
		r.Notef("settle each with oxbow edit NAME: choose what is right, and take the comments and the label conflict " +
			"away; oxbow list conflict:content lists them")
	}
	o.noteReturns(&r)
	if o.Undo {
		r.Notef("undo it with: oxbow undo")
	}
	return r
}

// noteReturns adds a note about removals that were not applied.
func (o SyncOut) noteReturns(r *report.Report) {
	if o.Returns > 0 {
		r.Notef("%s missing on one side: a history was rewritten or is another, and what is missing does not count as "+
			"removed", report.Words(text.Count(o.Returns, "entry is", "entries are")))
	}
}

// report lists the changes if there are few, or in a dry run, and counts them.
func (o SyncOut) report(toDo, did report.Words) (r report.Report) {
	marks := map[string]report.Words{"add": "+", "update": "~", "remove": "-"}
	n := map[string]int{}
	for _, c := range o.Changes {
		n[c.Verb]++
		if !o.DryRun && len(o.Changes) > maxListed {
			continue
		}
		if c.Was == "" {
			r.Linef("%s %s", marks[c.Verb], report.Name(c.Name))
		} else {
			r.Linef("%s %s (was %s)", marks[c.Verb], report.Name(c.Name), report.Name(c.Was))
		}
	}
	if o.Forgotten != "" {
		r.Warnf("the server is not remembered: %s", report.Text(o.Forgotten))
	}
	if len(o.Changes) == 0 {
		r.Notef("nothing to %s: %s", toDo, o.Server)
		return r
	}
	r.Linef("%s: %d added, %d updated, %d removed", did, n["add"], n["update"], n["remove"])
	return r
}

// Report tells whether the team files are trusted, or lists the trusted repositories.
func (o TeamTrustOut) Report() (r report.Report) {
	switch {
	case o.Team == "":
		for _, tree := range o.Teams {
			r.Linef("%s  since %s", tree.ID, tree.Since)
		}
		if len(o.Teams) == 0 {
			r.Notef("no repository's team files are trusted")
		}
	case o.Did == "":
		r.Linef("nothing was changed: %s", o.Team)
	default:
		did := report.Words(o.Did)
		if o.DryRun {
			did = "would " + report.Did(o.Did == "forgotten", "trust", "forget")
		}
		r.Linef("%s: %s", did, o.Team)
		if len(o.Names) > 0 {
			r.Notef("%s: %s", text.Count(o.Entries, "entry", "entries"), report.Text(o.NamesText()))
		}
	}
	return r
}
