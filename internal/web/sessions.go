// This file lists and searches the archived sessions. The list does not render the report of the verb, because its
// rows are links, and are updated while the page is open.

package web

import (
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// sessionPageSize is how many sessions, or found turns, a page has.
const sessionPageSize = 20

func sessionsPage(c *pageRequest) (pageReply, error) {
	s := pageWithNavigation{
		title:               "Sessions",
		navPath:             "sessions",
		reloadsLiveElements: true,
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Your conversations with agents, what the agents did, and which notes oxbow showed them."),
		),
	}
	if c.workspace.Sessions == nil {
		s.bodyNodes = []g.Node{noSessionsNotice()}
		return s, nil
	}
	query, limit := c.formValue("q"), min(max(c.formNumber("limit", sessionPageSize), 1), 500)
	s.bodyNodes = []g.Node{page.QueryForm("sessions", "Find",
		page.InputField("q", "Words", query, h.Type("search"), h.Placeholder("any words")),
		page.InputField("client", "Client", c.formValue("client")),
		page.InputField("project", "Project", c.formValue("project")),
		page.InputField("since", "Since", c.formValue("since"), h.Placeholder("7d, yesterday, 2026-04-18")))}
	list := c.renderSessionList
	if query != "" {
		list = c.renderTurnList
	}
	found, more, err := list(limit)
	if err != nil {
		return nil, err
	}
	s.bodyNodes = append(s.bodyNodes, h.Div(h.ID("list"), h.Attr("data-live", ""), found), g.Iff(more, func() g.Node {
		q := c.r.URL.Query()
		q.Set("limit", strconv.Itoa(limit+sessionPageSize))
		return h.Nav(h.Class("pager"), h.Aria("label", "Pages"), h.A(h.Href(page.RootPath+"sessions?"+
			q.Encode()), h.Text("Show more")))
	}))
	return s, nil
}

// noSessionsNotice returns the content of the page if no sessions are stored.
func noSessionsNotice() g.Node {
	return page.EmptyNotice(
		"No session is stored yet.",
		nil,
		h.P(
			h.Class("dim"),
			h.Text("Run "),
			h.Code(h.Text("oxbow setup")),
			h.Text(" to connect clients, whose hooks then report your sessions, or "),
			h.Code(h.Text("oxbow session import")), h.Text(" to import the histories of your clients."),
		),
	)
}

func (c *pageRequest) renderSessionList(limit int) (g.Node, bool, error) {
	out, err := sessions.ListSessions(
		c.ctx,
		c.workspace,
		sessions.SessionsIn{
			Project: c.formValue("project"),
			Client:  c.formValue("client"),
			Since:   c.formValue("since"),
			Limit:   &limit,
		},
	)
	switch {
	case err != nil:
		return nil, false, err
	case len(out.Sessions) == 0 && c.formValue("project")+c.formValue("client")+c.formValue("since") != "":
		return page.EmptyNotice("No session matches.", nil, h.P(h.A(h.Href(page.RootPath+
			"sessions"), h.Text("All sessions")))), false, nil
	case len(out.Sessions) == 0:
		return noSessionsNotice(), false, nil
	}
	return h.Ol(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Sessions, func(s session.Summary) g.Node {
		title := strings.Join(strings.Fields(s.DisplayTitle()), " ")
		if title == "" {
			title = s.Client + "/" + s.Session
		}
		return h.Li(h.Class("row"),
			h.Div(
				h.Class("head"),
				h.H2(h.A(h.Href(page.RootPath+page.SessionPath(s.Client, s.Session, 0)), page.IsolatedText(title))),
			),
			h.Div(
				h.Class("meta"),
				page.Badge("", page.VisibleText(s.Client), ""),
				g.If(s.Project != "", h.Span(page.IsolatedText(s.Project))),
				h.Span(h.Text(page.CountWithNoun(s.TurnCount, "turn"))), page.RelativeTime(c.now, s.LastTime),
			))
	})), out.HasMore, nil
}

// renderTurnList returns a list of the turns that match the query. Each row shows an excerpt of the turn, its client,
// trust, project and time. The second result reports whether there are more turns.
func (c *pageRequest) renderTurnList(limit int) (g.Node, bool, error) {
	in := verb.RecallIn{
		Query:          c.formValue("q"),
		EntrySelection: verb.EntrySelection{Project: c.formValue("project"), CreatedAfter: c.formValue("since")},
		Limit:          &limit,
	}
	if client := c.formValue("client"); client != "" {
		in.Filter = "client:" + strconv.Quote(client)
	}
	out, err := sessions.SearchSessions(c.ctx, c.workspace, in)
	if err != nil {
		return nil, false, err
	}
	if len(out.Hits) == 0 {
		return page.EmptyNotice("No turn contains these words.", out.EmptyReasons), false, nil
	}
	return g.Group{
		page.NoteList(out.Notes),
		h.Ol(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Hits, func(e verb.Entry) g.Node {
			client, _, _ := strings.Cut(e.Name, "/")
			return h.Li(
				h.Class("row"),
				h.Div(
					h.Class("head"),
					h.H2(h.A(h.Href(page.RootPath+page.TurnPath(e.Name)), page.IsolatedText(e.Snippet))),
				),
				h.Div(
					h.Class("meta"),
					page.Badge("", page.VisibleText(client), ""),
					page.TrustBadge(e.TrustLevel),
					g.If(
						len(e.Labels["project"]) > 0,
						h.Span(page.IsolatedText(strings.Join(e.Labels["project"], ", "))),
					),
					page.RelativeTime(c.now, page.ParseTime(e.Created)),
				),
			)
		})),
	}, out.HasMore, nil
}
