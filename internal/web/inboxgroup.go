// This file approves the entries of an import: all entries, or only the entries with a certain label.

package web

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// importGroupPage lists the projects and tags of an import, each with a button that approves its entries. If no
// entries of the import are held back, it redirects to the inbox.
func importGroupPage(c *pageRequest) (pageReply, error) {
	held, err := c.listHeldEntries()
	if err != nil {
		return nil, err
	}
	for _, group := range held.Groups {
		if group.ID == c.r.PathValue("id") {
			return c.importApprovalScreen(group), nil
		}
	}
	return redirectReply{path: "inbox", changeNumber: uint64(c.formNumber("done", 0))}, nil
}

func (c *pageRequest) importApprovalScreen(group labels.QuarantinedImportGroup) pageWithNavigation {
	title := page.CountWithNoun(group.Count, "imported note")
	mayApprove := c.mayWrite() && c.actor == oxbow.Person
	row := func(l labels.LabelCount) g.Node {
		filter := formatFilterTerm(l.Key, l.Value)
		return h.Tr(
			h.Td(page.LabelChips(map[string][]string{l.Key: {l.Value}})),
			h.Td(h.Class("number"), h.Text(page.CountWithNoun(l.EntryCount, "note"))),
			h.Td(g.If(mayApprove, h.Form(
				h.Class("one"),
				h.Method("post"),
				h.Action(page.RootPath+"inbox/approve-group"),
				page.HiddenFields("group", group.ID, "filter", filter),
				h.Button(
					h.Text("Approve"),
					h.Span(h.Class("hidden"), h.Text(" the notes with "+page.VisibleText(filter))),
				),
			))))
	}
	s := pageWithNavigation{title: title, navPath: "inbox", bodyNodes: []g.Node{
		c.noDecisionRightNotice(),
		page.Table([]string{"Label", "Notes", "Decision"}, g.Map(group.Labels, row)),
	}}
	if group.ImportSource != "" {
		s.descriptionLine = h.P(h.Class("lead"), h.Text("Imported from "), page.IsolatedText(group.ImportSource),
			h.Text(". Each label shows the notes that it selects in the whole memory."))
	}
	s.bodyNodes = append(s.bodyNodes, h.P(h.A(h.Href(page.RootPath+"inbox"), h.Text("Back to the inbox"))))
	return s
}

// approveImportGroup approves the entries of one import. The form field group contains the ID of the import's group. If
// the form field filter is not empty, only the entries that match this filter are approved.
func approveImportGroup(c *pageRequest) (pageReply, error) {
	in := labels.ApproveEntriesIn{Group: c.formValue("group"), Filter: c.formValue("filter")}
	out, err := labels.ApproveEntries(c.ctx, c.workspace, in)
	if err != nil {
		return nil, err
	}
	to := "inbox"
	if in.Filter != "" {
		to = "inbox/group/" + in.Group
	}
	return redirectReply{path: to, changeNumber: out.Seq}, nil
}
