// This file shows the memory changes that a session made, on the page of the session.

package web

import (
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// maxShownChanges is the maximum number of entries that the page of a session lists as written by the session.
const maxShownChanges = 20

// sessionEffectByRevertEffect contains the words for the effects of a session. The keys are the effects that reverting
// the session would have. For example, an entry that a revert would remove was written by the session.
var sessionEffectByRevertEffect = map[string]string{"removed": "Wrote", "returned": "Changed", "restored": "Forgot"}

// sessionChangesSection returns a section with the entries that a session wrote, changed and forgot, and with a link
// that reverts these changes. session has the form CLIENT/SESSION. If the changes cannot be determined, it returns
// nil.
func (c *pageRequest) sessionChangesSection(session string) g.Node {
	out, err := history.RevertChanges(c.ctx, c.workspace, history.RevertIn{Session: session, DryRun: true})
	if err != nil {
		return nil
	}
	if len(out.ChangeNumbers) == 0 {
		return h.P(h.Class("dim"), h.Text("This session wrote nothing to the memory."))
	}
	if len(out.Steps) == 0 {
		return h.P(
			h.Class("dim"),
			h.Text("All that this session wrote to the memory was undone, or others have changed it since."),
		)
	}
	var rows g.Group
	for _, s := range out.Steps[:min(maxShownChanges, len(out.Steps))] {
		rows = append(
			rows,
			h.Li(
				h.Span(h.Class("dim"), h.Text(sessionEffectByRevertEffect[s.EntryOutcome]+" ")),
				page.EntryLink(s.EntryName),
			),
		)
	}
	more := len(out.Steps) - maxShownChanges
	return h.Section(h.ID("wrote"), h.Class("callout"), h.Aria("labelledby", "wrote-title"),
		h.H2(h.ID("wrote-title"), h.Text(changesSummary(out))),
		h.Ul(h.Class("list"), rows),
		g.If(more > 0, h.P(h.Class("dim"), h.Text("And "+page.CountWithNoun(more, "other")+"."))),
		g.If(len(out.Conflicts) > 0, h.P(
			h.Class("hint"),
			h.Text(
				"Others have changed "+page.CountWithNoun(
					len(out.Conflicts),
					"entry",
				)+" of this session since. Their changes stay.",
			),
		)),
		g.If(c.canDecideAsPerson(), h.Div(h.Class("actions"), revertLink(session, "Undo…"))))
}

// changesSummary returns a sentence with the number of entries that a session wrote, changed and forgot, such as "It
// wrote 3 entries, changed 1 entry". The numbers come from the steps that reverting the session would make. For
// example, an entry that a revert would remove was written by the session.
func changesSummary(out history.RevertOut) string {
	count := map[string]int{}
	for _, s := range out.Steps {
		count[s.EntryOutcome]++
	}
	var parts []string
	for _, did := range []string{"removed", "returned", "restored"} {
		if n := count[did]; n > 0 {
			parts = append(parts, strings.ToLower(sessionEffectByRevertEffect[did])+" "+page.CountWithNoun(n, "entry"))
		}
	}
	return "It " + strings.Join(parts, ", ")
}
