// This file is the page Log: every change, who made it, and how to undo it.

package web

import (
	"net/url"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	logPage   = 30 // changes on a page of the log
	logNamed  = 5  // maximum number of entries that a row of the log names
	logEntity = 20 // maximum number of entries whose difference the page of a change shows
)

func changes(c *call) (reply, error) {
	limit, offset := logPage, max(0, c.number("offset", 0))
	name := c.value("entry")
	by := c.value("by")
	session := c.value("session")
	out, err := verb.History(
		c.ctx,
		c.work,
		verb.HistoryIn{Name: name, By: by, Session: session, Limit: &limit, Offset: &offset},
	)
	if err != nil {
		return nil, err
	}
	s := screen{
		title:   "Log",
		navPath: "log",
		live:    offset == 0,
		lead:    h.P(h.Class("lead"), h.Text("Every change, the last first. Each can be taken back.")),
	}
	s.body = []g.Node{c.logFilters(name, by, session)}
	if len(out.Changes) == 0 {
		s.body = append(
			s.body,
			page.Empty("No change is like that.", out.Notes, g.If(name+by+session != "", h.P(h.A(h.Href(page.Root+
				"log"), h.Text("All changes"))))),
		)
		return s, nil
	}
	s.body = append(
		s.body,
		h.Ol(
			h.ID("changes"),
			h.Attr("data-live", ""),
			h.Attr("data-keys", ""),
			h.Class("rows"),
			g.Map(out.Changes, c.logRow),
		),
		page.Pager(c.r.URL, offset, out.Next, logPage),
	)
	return s, nil
}

// logFilters returns the filters as a form, and the actions for a whole session.
func (c *call) logFilters(name, actor, session string) g.Node {
	actors := []string{"", "person", "agent", "import", "tool"}
	names := map[string]string{"": "anyone", "person": "a person", "agent": "an agent", "import": "an import",
		"tool": "a program"}
	return g.Group{h.Form(h.Class("actions filters"), h.Action(page.Root+"log"),
		h.Label(h.For("by"), h.Text("By")),
		h.Select(h.ID("by"), h.Name("by"), g.Map(actors, func(a string) g.Node {
			return h.Option(h.Value(a), g.If(a == actor, h.Selected()), h.Text(names[a]))
		})),
		h.Label(h.For("entry"), h.Text("Entry")),
		h.Input(h.ID("entry"), h.Name("entry"), h.Value(name), h.AutoComplete("off")),
		g.If(session != "", page.Hidden("session", session)),
		h.Button(h.Text("Show")), g.If(name+actor+session != "", h.A(h.Href(page.Root+"log"), h.Text("All changes")))),
		g.If(
			session != "",
			h.Div(h.Class("callout"), h.P(h.Text("Changes of session "), h.Code(page.Isolated(session)), h.Text(". "),
				g.If(c.mayDecide(), takeBackLink(session, "Take back all of it…")))),
		)}
}

func (c *call) logRow(ch verb.Change) g.Node {
	seq := number(ch.Seq)
	named := ch.Entries[:min(logNamed, len(ch.Entries))]
	return h.Li(h.Class("row"), h.ID("change-"+seq),
		h.Div(
			h.Class("head"),
			page.Badge("", seq, "number of the change"),
			h.H2(h.Class("small"), h.Text(page.DidWhat(ch))),
		),
		h.Ul(h.Class("list"), g.Map(named, func(e verb.Touched) g.Node {
			return h.Li(
				h.Class("snippet"),
				page.EntryLink(e.Name),
				g.If(e.Snippet != "", g.Group{h.Text(" "), h.Span(h.Class("dim"), page.Isolated(e.Snippet))}),
			)
		})),
		h.Div(h.Class("meta"), h.Span(h.Text(page.Writer(ch.Source)+
			", "), page.When(c.now, page.Moment(ch.Time))), page.Isolated(ch.Note), sessionLink(ch.Source.Session),
			h.A(h.Href(page.Root+"log/"+seq), h.Attr("data-inline", "#change"), h.Text("What it changed")),
			g.If(c.mayWrite(), page.Button("undo", "plain", "Undo", "seq", seq, "back", c.currentPath()))))
}

// sessionLink links to the changes of a session.
func sessionLink(session string) g.Node {
	if session == "" {
		return nil
	}
	return h.A(
		h.Href(page.Root+"log?"+url.Values{"session": {session}}.Encode()),
		h.Text("session "),
		page.Isolated(session[:min(len(session), 8)]),
	)
}

// oneChange is the page of one change, with its effect on each entry.
func oneChange(c *call) (reply, error) {
	seq, err := changeNumber(c.r.PathValue("seq"))
	if err != nil {
		return nil, err
	}
	out, err := verb.Undo(c.ctx, c.work, verb.UndoIn{Seq: []uint64{seq}, DryRun: true})
	if err != nil {
		return nil, err
	}
	ch := out.Undone[0]
	more := len(ch.Entries) - logEntity
	return screen{
		title:   "Change " + number(seq),
		navPath: "log",
		lead: h.Div(h.Class("meta"), h.Span(h.Text(page.Writer(ch.Source)+
			", "), page.When(c.now, page.Moment(ch.Time))), page.Isolated(ch.Note), sessionLink(ch.Source.Session)),
		body: []g.Node{h.P(h.Text(page.DidWhat(ch))),
			h.Div(
				h.ID("change"),
				h.Class("rows"),
				g.Map(ch.Entries[:min(logEntity, len(ch.Entries))], func(t verb.Touched) g.Node {
					return h.Div(h.Class("row"), h.P(page.EntryLink(t.Name)), c.touchedDiff(t, seq))
				}), g.If(more > 0, h.P(h.Class("dim"), h.Text("And "+page.Plural(more, "other")+"."))),
			),
			g.If(
				c.mayWrite(),
				page.Button("undo", "", "Undo this change", "seq", number(seq), "back", c.currentPath()),
			)},
	}, nil
}
