// This file implements the page that undoes all changes of a session. Before that, it shows the effects.

package web

import (
	"net/url"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// revertSessionPage shows what reverting a session would undo, and which later changes prevent this.
func revertSessionPage(c *pageRequest) (pageReply, error) {
	if no := c.refusalForNonPerson(); no != nil {
		return no, nil
	}
	in := history.RevertIn{
		Session:                c.formValue("session"),
		IncludesDerivedEntries: c.formValue("derived") != "",
		DryRun:                 true,
	}
	out, err := history.RevertChanges(c.ctx, c.workspace, in)
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:   "Undo a session",
		navPath: "log",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Nothing has been changed yet. This is what "),
			h.Code(page.IsolatedText(in.Session)),
			h.Text(" changed, and how it would be undone."),
		),
	}
	if len(out.ChangeNumbers) == 0 {
		s.bodyNodes = []g.Node{page.EmptyNotice("This session changed nothing.", out.EmptyResultReasons)}
		return s, nil
	}
	lead := page.CountWithNoun(
		out.RevertedChangeCount(),
		"change",
	) + " would be undone by one change, which you can undo again."
	if n := out.IneffectiveChangeCount(); n > 0 {
		lead += " " + page.CountWithNoun(n, "other change") + " of this session had no effect any more."
	}
	s.bodyNodes = []g.Node{g.If(len(out.Steps) > 0, h.P(h.Text(lead))),
		revertStepList(out), conflictList(out), derivedEntryRows(out, in)}
	if n := len(out.ShownItems); n > 0 {
		s.bodyNodes = append(
			s.bodyNodes,
			h.P(h.Text("Agents were shown entries of this session "+page.CountWithNoun(n, "time")+".")),
		)
	}
	s.bodyNodes = append(s.bodyNodes, h.Form(h.Method("post"), h.Class("actions"), h.Action(page.RootPath+
		"log/revert"), page.HiddenFields("session", in.Session), g.If(in.IncludesDerivedEntries,
		page.HiddenFields("derived",
			"1")),
		h.Button(h.Class("main"), h.Text("Undo the session")), h.A(h.Class("button"), h.Href(page.RootPath+
			"log"), h.Text("Cancel"))))
	return s, nil
}

func revertSession(c *pageRequest) (pageReply, error) {
	if no := c.refusalForNonPerson(); no != nil {
		return no, nil
	}
	if c.formValue("session") == "" {
		return nil, &oxbow.InvalidError{Field: "session", Reason: "is empty; choose a session"}
	}
	out, err := history.RevertChanges(
		c.ctx,
		c.workspace,
		history.RevertIn{Session: c.formValue("session"), IncludesDerivedEntries: c.formValue("derived") != ""},
	)
	if err != nil {
		return nil, err
	}
	if out.Seq == 0 {
		return redirectReply{
			path:    "log",
			message: "Nothing was changed: no change of this session is still in effect.",
		}, nil
	}
	return redirectReply{path: "log", changeNumber: out.Seq}, nil
}

// revertStepList lists what a revert would do to each entry.
func revertStepList(out history.RevertOut) g.Node {
	did := map[string]string{
		"removed":  "is forgotten",
		"returned": "gets its earlier text back",
		"restored": "is restored",
	}
	rows := g.Group{g.If(len(out.Steps) == 0, h.Li(h.Text("Nothing: no change of this session is still in effect.")))}
	for _, st := range out.Steps {
		rows = append(rows, h.Li(page.EntryLink(st.EntryName), h.Text(" "+did[st.EntryOutcome])))
	}
	return page.Section("steps", "What would be done", h.Ul(h.Class("list"), rows))
}

// conflictList lists the entries that the revert could not restore completely. Usually somebody else changed such an
// entry after the change that is reverted. For each entry, conflictList shows the reason. It returns nil if no such
// entry exists.
func conflictList(out history.RevertOut) g.Node {
	var rows g.Group
	for _, k := range out.Conflicts {
		why := k.Reason
		if why == "" {
			why = "others changed it later, and their change stays: " + strings.Join(k.KeptPartNames, ", ")
		}
		rows = append(rows, h.Li(page.EntryLink(k.Name), h.Text(": "+why)))
	}
	if rows == nil {
		return nil
	}
	return page.Section("conflicts", "What others changed since", h.Ul(h.Class("list"), rows))
}

// derivedEntryRows lists the entries in out.DerivedVersions. The content of these entries comes from other entries
// whose changes would be undone. If there are no such entries, derivedEntryRows returns nil.
func derivedEntryRows(out history.RevertOut, in history.RevertIn) g.Node {
	var rows g.Group
	for _, d := range out.DerivedVersions {
		rows = append(
			rows,
			h.Li(
				page.EntryLink(d.Name),
				h.Text(", from "),
				page.IsolatedText(d.SourceName),
				g.If(d.IsReverted, h.Text(": undone as well")),
			),
		)
	}
	if rows == nil {
		return nil
	}
	return page.Section("derived", "Entries made from these", h.Ul(h.Class("list"), rows),
		g.If(!in.IncludesDerivedEntries, h.P(h.A(h.Href(page.RootPath+"log/revert?"+
			url.Values{
				"session": {in.Session},
				"derived": {"1"},
			}.Encode()), h.Text("Preview undoing these as well")))))
}
