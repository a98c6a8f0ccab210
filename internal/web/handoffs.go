// This file shows handoffs. A handoff describes unfinished work of a session for the next session.

package web

import (
	"cmp"
	"slices"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func handoffsPage(c *pageRequest) (pageReply, error) {
	all := c.formValue("all") != ""
	out, err := verb.ListHandoffs(c.ctx, c.workspace, verb.HandoffsIn{IncludesTaken: all})
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:   "Handoffs",
		navPath: "handoffs",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text(
				"Notes that one session wrote for the next. A new session is told the name of the newest open "+
					"handoff.",
			),
		),
	}
	if len(out.Handoffs) == 0 {
		s.bodyNodes = []g.Node{
			page.EmptyNotice(
				"No handoff is open.",
				nil,
				h.P(
					h.Class("dim"),
					h.Text("An agent writes a handoff with the tool handoff_task. You can write one with "),
					h.Code(h.Text("oxbow handoff new SUMMARY")),
					h.Text("."),
				),
			),
		}
	} else {
		s.bodyNodes = []g.Node{
			h.Ol(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Handoffs, func(o verb.HandoffOut) g.Node {
				return h.Li(h.Class("row"),
					h.Div(
						h.Class("head"),
						h.H2(h.A(h.Href(page.RootPath+handoffPath(o.Name)), page.IsolatedText(o.Name))),
						page.Badge(map[bool]string{true: "good"}[o.State == proposalStateOpen], o.State, ""),
					),
					h.P(h.Class("snippet"), page.IsolatedText(cmp.Or(o.Summary, o.SessionFacts))),
					h.Div(
						h.Class("meta"),
						g.If(o.Project != "", h.Span(page.IsolatedText(o.Project))),
						page.RelativeTime(c.now, page.ParseTime(o.Created)),
					))
			})),
		}
	}
	other, label := "handoffs?all=1", "Also show handoffs that were taken"
	if all {
		other, label = "handoffs", "Show only open handoffs"
	}
	s.bodyNodes = append(s.bodyNodes, h.P(h.A(h.Href(page.RootPath+other), h.Text(label))))
	return s, nil
}

func handoffPath(name string) string {
	return "handoffs/" + strings.TrimPrefix(page.EntryPath(name), "entries/")
}

// handoffPage is the page of a handoff. It shows the text that the next session gets, but not the texts of the profile
// and the skills that the handoff names, because some browsers must not see these texts.
func handoffPage(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	out, err := verb.ListHandoffs(c.ctx, c.workspace, verb.HandoffsIn{IncludesTaken: true})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(out.Handoffs, func(o verb.HandoffOut) bool { return o.Name == name })
	if at < 0 {
		return nil, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	o := out.Handoffs[at]
	return pageWithNavigation{
		title:   "Handoff",
		navPath: "handoffs",
		descriptionLine: h.Div(
			h.Class("meta"),
			page.Badge(map[bool]string{true: "good"}[o.State == proposalStateOpen], o.State, ""),
			page.RelativeTime(c.now, page.ParseTime(o.Created)),
		),
		bodyNodes: []g.Node{
			page.NameValueList("Name", o.Name, "Project", o.Project),
			page.Section(
				"text",
				"What the next session gets",
				h.Pre(h.Class("text"), page.IsolatedText(strings.TrimSpace(o.Text()))),
				g.If(
					o.Profile != "" || len(o.Skills) > 0,
					h.P(h.Text("It also gets the entries of the profile and the texts of the skills.")),
				),
			),
			h.P(
				h.Class("hint"),
				h.Text("A session takes it with the prompt /handoff, or you do: "),
				h.Code(h.Text("oxbow handoff take "+page.VisibleText(text.QuoteShellOperand(o.Name)))),
			),
			g.If(c.mayWrite(), h.Div(h.Class("actions"), page.PostButton(handoffPath(o.Name)+"/drop", "", "Discard")))},
	}, nil
}

func dropHandoff(c *pageRequest) (pageReply, error) {
	out, err := verb.DropHandoff(c.ctx, c.workspace, verb.DropHandoffIn{Name: c.entryNameFromPath()})
	if err != nil {
		return nil, err
	}
	last := 1
	past, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Name: out.Name, Limit: &last})
	if err != nil || len(past.Changes) == 0 {
		return redirectReply{path: "handoffs", message: "The handoff was discarded."}, nil
	}
	return redirectReply{path: "handoffs", changeNumber: past.Changes[0].Seq}, nil
}
