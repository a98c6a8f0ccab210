// This file implements the page that forgets an entry. The page of a forgotten entry contains a button to restore it.

package web

import (
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func forgetEntry(c *pageRequest) (pageReply, error) {
	out, err := verb.Forget(
		c.ctx,
		c.workspace,
		verb.ForgetIn{Name: c.entryNameFromPath(), IfVersion: c.formEntryVersion()},
	)
	if err != nil {
		return nil, err
	}
	return redirectReply{path: "", changeNumber: out.Seq}, nil
}

// forgottenEntryPage returns the page for a name that no entry has now. If an entry with this name was forgotten, the
// page shows its text and offers to restore it. If the text was erased or removed with the old history, the page says
// so. If no entry had this name, forgottenEntryPage returns the error missingErr.
func (c *pageRequest) forgottenEntryPage(name string, missingErr error) (pageReply, error) {
	one := 1
	out, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Name: name, Limit: &one})
	if err != nil || len(out.Changes) == 0 {
		return nil, missingErr
	}
	if out.Changes[0].Entries[0].Verb != string(oxbow.VerbRemove) {
		return nil, missingErr
	}
	last := out.Changes[0]
	seq := last.Entries[0].PrevSeq
	s := pageWithNavigation{
		title:   page.VisibleText(name),
		navPath: "find",
		status:  http.StatusNotFound,
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text(
				"Forgotten by "+c.pageViewer().WriterName(last.Source)+", ",
			),
			page.RelativeTime(c.now, page.ParseTime(last.Time)),
			h.Text("."),
		),
	}
	was, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name + "@" + formatNumber(seq), ContentOnly: true})
	if err != nil {
		s.bodyNodes = []g.Node{page.Notice("note", "The text was erased for good, or removed with old history.", "")}
		return s, nil
	}
	text, _ := page.RenderMarkdown(*was.Content)
	s.bodyNodes = []g.Node{
		h.Section(h.Aria("label", "The forgotten text"), text),
		h.Div(h.Class("actions"),
			g.If(c.mayWrite(), page.PostButton(page.EntryPath(name)+
				"/restore", "main", "Restore", "seq", formatNumber(seq))),
			h.A(h.Class("button"), h.Href(page.RootPath+page.EntryPath(name)+"/versions"), h.Text("Versions"))),
	}
	return s, nil
}
