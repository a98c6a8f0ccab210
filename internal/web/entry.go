// This file implements the page of an entry. It contains the text, facts, and forms for changes.

package web

import (
	"errors"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func entryPage(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name})
	if errors.Is(err, oxbow.ErrNotFound) {
		return c.forgottenEntryPage(name, err)
	}
	if err != nil {
		return nil, err
	}
	past := e.Name != name && strings.HasPrefix(name, e.Name+"@")
	// Remove the note about how often agents used the entry, because the page shows these numbers elsewhere.
	if e.ShownTurnCount > 0 {
		e.Notes = e.Notes[:len(e.Notes)-1]
	}
	text, cut := page.RenderMarkdown(*e.Content)
	s := pageWithNavigation{
		title:               page.VisibleText(e.Name),
		navPath:             "find",
		reloadsLiveElements: !past,
		descriptionLine:     c.entrySummaryLine(e.Entry),
	}
	s.bodyNodes = []g.Node{
		page.NoteList(e.Notes),
		h.Div(h.ID("entry"), h.Class("entry"), g.If(!past, h.Attr("data-live", "")),
			h.Div(h.Class("column"),
				g.Iff(!past, func() g.Node { return c.changedEntryNotice(e.Name) }),
				c.unapprovedEntryNotice(e.Entry),
				h.Section(
					h.Aria("label", "Text"),
					text,
					g.If(
						cut,
						h.P(h.Class("hint"), h.Text("Only the beginning is shown. "), rawLink(name, "The whole text")),
					),
				),
				g.If(
					past,
					h.Div(
						h.Class("actions"),
						h.A(h.Class("button"), h.Href(page.RootPath+page.EntryPath(e.Name)), h.Text("Current text")),
					),
				),
				g.If(!past, c.entryActions(e.Entry))),
			h.Aside(h.Aria("label", "About this entry"), c.entryFacts(e, past),
				g.Iff(!past, func() g.Node { return g.Group{c.shownPromptsSection(e.Name), c.similarEntries(e)} }))),
	}
	return s, nil
}

func (c *pageRequest) entrySummaryLine(e verb.Entry) g.Node {
	return h.Div(
		h.Class("meta"),
		page.TrustBadge(e.TrustLevel),
		g.If(isPinned(e), page.Badge("good", "pinned", "Agents get this entry first.")),
		g.If(e.Kind != "note", page.Badge("", e.Kind, "")), page.LabelChips(e.Labels),
		h.Span(h.Text(c.pageViewer().WriterName(e.Source)+", "), page.RelativeTime(c.now, page.EntryDate(e))),
	)
}

func rawLink(name, text string) g.Node {
	return h.A(h.Href(page.RootPath+page.EntryPath(name)+"/raw"), h.Text(text))
}

// unapprovedEntryNotice says why agents are not shown an entry unasked, and contains a button that approves the entry.
// It returns nil if the entry needs no approval.
func (c *pageRequest) unapprovedEntryNotice(e verb.Entry) g.Node {
	if e.TrustLevel == "" {
		return nil
	}
	var why []string
	if read := e.Labels[oxbow.LabelTaint]; len(read) > 0 {
		why = append(why, "Before it wrote this, the agent had read texts by others: "+
			page.VisibleText(strings.Join(read, ", "))+".")
	}
	if rules := append(
		append([]string{}, e.Labels[oxbow.LabelSuspect]...),
		e.Labels[oxbow.LabelQuarantine]...,
	); len(rules) > 0 {
		why = append(why, "It looks like an instruction to a model: "+page.VisibleText(strings.Join(rules, ", "))+".")
	}
	if len(why) == 0 {
		why = append(why, "It comes from an untrusted source.")
	}
	return h.Div(
		h.Class("notice warn"),
		h.P(h.Strong(h.Text("Agents are not shown this entry unasked. ")), h.Text(strings.Join(why, " "))),
		g.If(
			c.canDecideAsPerson(),
			page.PostButton(page.EntryPath(e.Name)+"/approve", "", "Approve", "version", formatEntryVersion(e)),
		),
	)
}

// entryActions shows the links and buttons of an entry.
func (c *pageRequest) entryActions(e verb.Entry) g.Node {
	at := page.EntryPath(e.Name)
	more := h.P(h.Class("meta"),
		h.A(h.Href(page.RootPath+at+"/versions"), h.Text("Versions")), rawLink(e.Name, "Raw text"),
		h.A(h.Href(page.RootPath+at+"/lineage"), h.Text("What it was made from")),
		g.If(c.canShare(), h.A(h.Href(page.RootPath+at+"/share"), h.Text("Share with the team…"))))
	if !c.mayWrite() {
		return more
	}
	pin := page.PostButton(at+"/pin", "", "Pin")
	if isPinned(e) {
		pin = page.PostButton(at+"/pin", "", "Unpin", "off", "1")
	}
	return g.Group{h.Div(h.Class("actions"),
		h.A(h.Class("button main"), h.Href(page.RootPath+at+"/edit"), h.Attr("data-key", "e"), h.Text("Edit")), pin,
		page.PostButton(at+"/forget", "", "Forget", "version", formatEntryVersion(e)),
		g.If(c.canDecideAsPerson(), h.A(h.Class("button danger"), h.Href(page.RootPath+at+
			"/redact"), h.Text("Erase for good…")))), more}
}
