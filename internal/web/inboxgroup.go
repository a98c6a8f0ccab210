// This file approves an import's entries: all of them, or the entries with a label.

package web

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// groupPage lists the projects and tags of an import, each with a button that approves its entries.
func groupPage(c *call) (reply, error) {
	held, err := c.listHeld()
	if err != nil {
		return nil, err
	}
	for _, group := range held.Groups {
		if group.ID == c.r.PathValue("id") {
			return c.groupScreen(group), nil
		}
	}
	return redirect{to: "inbox", change: uint64(c.number("done", 0))}, nil
}

func (c *call) groupScreen(group labels.HeldGroup) screen {
	title := page.Plural(group.Count, "imported note")
	mayApprove := c.mayWrite() && c.actor == oxbow.Person
	row := func(l labels.LabelCount) g.Node {
		filter := term(l.Key, l.Value)
		return h.Tr(
			h.Td(page.Chips(map[string][]string{l.Key: {l.Value}})),
			h.Td(h.Class("number"), h.Text(page.Plural(l.Entries, "note"))),
			h.Td(g.If(mayApprove, h.Form(
				h.Class("one"),
				h.Method("post"),
				h.Action(page.Root+"inbox/approve-group"),
				page.Hidden("group", group.ID, "filter", filter),
				h.Button(
					h.Text("Approve"),
					h.Span(h.Class("hidden"), h.Text(" the notes with "+page.Visible(filter))),
				),
			))))
	}
	s := screen{title: title, navPath: "inbox", body: []g.Node{
		c.noDecisionNotice(),
		page.Table([]string{"Label", "Notes", "Decision"}, g.Map(group.Labels, row)),
	}}
	if group.From != "" {
		s.lead = h.P(h.Class("lead"), h.Text("Imported from "), page.Isolated(group.From),
			h.Text(". Each label shows the notes that it selects in the whole memory."))
	}
	s.body = append(s.body, h.P(h.A(h.Href(page.Root+"inbox"), h.Text("Back to the inbox"))))
	return s
}

// approveGroup approves the entries of one import that the form's filter selects.
func approveGroup(c *call) (reply, error) {
	in := labels.ApproveIn{Group: c.value("group"), Filter: c.value("filter")}
	out, err := labels.Approve(c.ctx, c.work, in)
	if err != nil {
		return nil, err
	}
	to := "inbox"
	if in.Filter != "" {
		to = "inbox/group/" + in.Group
	}
	return redirect{to: to, change: out.Seq}, nil
}
