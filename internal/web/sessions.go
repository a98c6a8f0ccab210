// This file lists the archived sessions, and searches them. The list does not render the report of
// the verb, because rows are links and stay current while the page is open.

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

// sessionPage is the number of sessions or found turns on a page.
const sessionPage = 20

func listSessions(c *call) (reply, error) {
	s := screen{
		title:   "Sessions",
		navPath: "sessions",
		live:    true,
		lead: h.P(
			h.Class("lead"),
			h.Text("Your conversations with agents, what the agents did, and which notes oxbow showed them."),
		),
	}
	if c.work.Sessions == nil {
		s.body = []g.Node{noArchive()}
		return s, nil
	}
	query, limit := c.value("q"), min(max(c.number("limit", sessionPage), 1), 500)
	s.body = []g.Node{page.Ask("sessions", "Find",
		page.Field("q", "Words", query, h.Type("search"), h.Placeholder("any words")),
		page.Field("client", "Client", c.value("client")),
		page.Field("project", "Project", c.value("project")),
		page.Field("since", "Since", c.value("since"), h.Placeholder("7d, yesterday, 2026-04-18")))}
	list := c.sessionList
	if query != "" {
		list = c.turnsFound
	}
	found, more, err := list(limit)
	if err != nil {
		return nil, err
	}
	s.body = append(s.body, h.Div(h.ID("list"), h.Attr("data-live", ""), found), g.Iff(more, func() g.Node {
		q := c.r.URL.Query()
		q.Set("limit", strconv.Itoa(limit+sessionPage))
		return h.Nav(h.Class("pager"), h.Aria("label", "Pages"), h.A(h.Href(page.Root+"sessions?"+
			q.Encode()), h.Text("Show more")))
	}))
	return s, nil
}

// noArchive is the page content if no sessions are kept.
func noArchive() g.Node {
	return page.Empty(
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

func (c *call) sessionList(limit int) (g.Node, bool, error) {
	out, err := sessions.Sessions(
		c.ctx,
		c.work,
		sessions.SessionsIn{
			Project: c.value("project"),
			Client:  c.value("client"),
			Since:   c.value("since"),
			Limit:   &limit,
		},
	)
	switch {
	case err != nil:
		return nil, false, err
	case len(out.Sessions) == 0 && c.value("project")+c.value("client")+c.value("since") != "":
		return page.Empty("No session matches.", nil, h.P(h.A(h.Href(page.Root+
			"sessions"), h.Text("All sessions")))), false, nil
	case len(out.Sessions) == 0:
		return noArchive(), false, nil
	}
	return h.Ol(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Sessions, func(s session.Summary) g.Node {
		title := strings.Join(strings.Fields(s.Prompt), " ")
		if title == "" {
			title = s.Client + "/" + s.Session
		}
		return h.Li(h.Class("row"),
			h.Div(
				h.Class("head"),
				h.H2(h.A(h.Href(page.Root+page.SessionPath(s.Client, s.Session, 0)), page.Isolated(title))),
			),
			h.Div(
				h.Class("meta"),
				page.Badge("", page.Visible(s.Client), ""),
				g.If(s.Project != "", h.Span(page.Isolated(s.Project))),
				h.Span(h.Text(page.Plural(s.Turns, "turn"))), page.When(c.now, s.Last),
			))
	})), out.More, nil
}

// turnsFound lists the turns that match the query, and the position of each turn in the turn's
// session. The bool reports whether there are more.
func (c *call) turnsFound(limit int) (g.Node, bool, error) {
	in := verb.RecallIn{
		Query:     c.value("q"),
		Narrowing: verb.Narrowing{Project: c.value("project"), After: c.value("since")},
		Limit:     &limit,
	}
	if client := c.value("client"); client != "" {
		in.Filter = "client:" + strconv.Quote(client)
	}
	out, err := sessions.SearchSessions(c.ctx, c.work, in)
	if err != nil {
		return nil, false, err
	}
	if len(out.Hits) == 0 {
		return page.Empty("No turn contains these words.", out.Why), false, nil
	}
	return g.Group{
		page.Notes(out.Notes),
		h.Ol(h.Class("rows"), h.Attr("data-keys", ""), g.Map(out.Hits, func(e verb.Entry) g.Node {
			client, _, _ := strings.Cut(e.Name, "/")
			return h.Li(h.Class("row"),
				h.Div(h.Class("head"), h.H2(h.A(h.Href(page.Root+page.TurnPath(e.Name)), page.Isolated(e.Snippet)))),
				h.Div(
					h.Class("meta"),
					page.Badge("", page.Visible(client), ""),
					page.TrustBadge(e.Trust),
					g.If(len(e.Labels["project"]) > 0, h.Span(page.Isolated(strings.Join(e.Labels["project"], ", ")))),
					page.When(c.now, page.Moment(e.Created)),
				))
		})),
	}, out.More, nil
}
