// This file shows the turns of one session, including the memory that hooks added for the
// model. The page does not render the report of the verb, because each turn can be folded, linked
// to, and kept as a note.

package web

import (
	"fmt"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	turnPage  = 10    // turns of a page
	turnBytes = 6_000 // maximum size of one text; the export contains the whole text
)

// sessionID returns the session that the path names.
func (c *call) sessionID() string { return c.r.PathValue("client") + "/" + c.r.PathValue("session") }

func showSession(c *call) (reply, error) {
	if c.work.Sessions == nil {
		return nothingHere(c)
	}
	out, err := sessions.ShowSession(c.ctx, c.work, sessions.SessionIn{Session: c.sessionID()})
	if err != nil {
		return nil, err
	}
	path := page.SessionPath(out.Client, out.Session, 0)
	from := max(0, c.number("offset", 0))
	if turn := c.number("turn", 0); turn > 0 { // show the page with this turn
		for i, t := range out.List {
			if t.N == turn {
				from = i / turnPage * turnPage
			}
		}
	}
	from = min(from, max(0, len(out.List)-1))
	to := min(from+turnPage, len(out.List))
	next := 0
	if to < len(out.List) {
		next = to
	}
	return screen{title: sessionTitle(out), navPath: "sessions", lead: c.sessionLead(out), body: []g.Node{
		c.sessionWrote(out.Client + "/" + out.Session),
		h.Ol(h.Class("turns"), h.Attr("data-keys", ""), g.Map(out.List[from:to], c.turn)),
		turnPager(page.Root+path, from, next),
		h.Div(h.Class("actions"),
			h.A(h.Class("button"), h.Href(page.Root+path+"/export?form=markdown"), h.Text("Export as Markdown")),
			h.A(h.Class("button"), h.Href(page.Root+path+"/export?form=json"), h.Text("Export as JSON")),
			g.If(c.mayWrite(),
				h.A(h.Class("button"), h.Href(page.Root+path+"/forget"), h.Text("Forget the session…")))),
	}}, nil
}

// maxTitle is the maximum length in bytes of a session's title.
const maxTitle = 90

// sessionTitle is the beginning of the session's first prompt.
func sessionTitle(out sessions.SessionOut) string {
	prompt := strings.Join(strings.Fields(out.Prompt), " ")
	if prompt == "" {
		return "Session " + page.Visible(out.Session[:min(len(out.Session), 8)])
	}
	return page.Visible(text.Clip(prompt, maxTitle))
}

// sessionLead says when and where the session was.
func (c *call) sessionLead(out sessions.SessionOut) g.Node {
	where := out.Dir
	if out.Branch != "" {
		where += " on branch " + out.Branch
	}
	return h.Div(h.Class("meta"),
		page.Badge("", page.Visible(out.Client), ""),
		g.If(out.Project != "", h.Span(page.Isolated(out.Project))),
		h.Span(h.Text(page.Plural(out.Turns, "turn")+", "), page.When(c.now, out.Last)),
		g.If(where != "", h.Span(page.Isolated(where))),
		h.Span(h.Text("session "), h.Code(page.Isolated(out.Session))))
}

// turnPager links to the earlier and the later turns of a session.
func turnPager(path string, from, next int) g.Node {
	at := func(offset int, rel, text string) g.Node {
		return h.A(h.Rel(rel), h.Href(path+"?offset="+strconv.Itoa(offset)), h.Text(text))
	}
	return g.If(from > 0 || next > 0, h.Nav(h.Class("pager"), h.Aria("label", "Pages"),
		g.If(from > 0, at(max(0, from-turnPage), "prev", "Earlier turns")),
		g.If(next > 0, at(next, "next", "Later turns"))))
}

// turn shows the events of a turn in order.
func (c *call) turn(t session.Turn) g.Node {
	id := "turn-" + strconv.Itoa(t.N)
	var parts []g.Node
	for _, e := range t.Events {
		parts = append(parts, eventPart(e))
	}
	taints := t.ReadsOfForeign()
	return h.Li(h.ID(id), h.Class("turn"),
		h.Div(h.Class("head"), h.H2(h.A(h.Href("#"+
			id), h.Textf("Turn %d", t.N))), h.Span(h.Class("meta"), page.When(c.now, t.Start)),
			g.If(len(taints) > 0, page.Badge("warn", "read texts of others", strings.Join(taints, "; ")))),
		g.Group(parts),
		g.If(t.Cut, h.P(h.Class("hint"), h.Text("The turn was too large, and only a part was stored."))),
		g.If(
			c.mayWrite(),
			h.Div(
				h.Class("actions"),
				h.A(
					h.Class("button"),
					h.Attr("data-key", "n"),
					h.Href(page.Root+page.SessionPath(t.Client, t.Session, 0)+"/note?turn="+strconv.Itoa(t.N)),
					h.Text("Make a note of it"),
				),
			),
		))
}

// eventPart shows one event of a turn. It returns nil for an event that shows nothing.
func eventPart(e session.Event) g.Node {
	said := func(class, who, text string) g.Node {
		return h.Div(
			h.Class("event "+class),
			h.P(h.Class("who"), h.Text(who)),
			h.Div(h.Class("words"), page.Isolated(clipText(text))),
		)
	}
	switch e.Kind {
	case session.Prompt:
		return said("prompt", "Person", e.Text)
	case session.Text:
		return said("answer", "Agent", e.Text)
	case session.Plan:
		return said("answer", "Plan", e.Text)
	case session.Compact:
		return said("answer", "Summary after compaction", e.Text)
	case session.Called:
		return g.Iff(e.Call != nil, func() g.Node { return callPart(e.Call) })
	case session.Injected:
		return g.Iff(e.Injection != nil, func() g.Node { return injectionPart(e) })
	}
	return nil
}

// callPart shows a tool call and the command or the files of the call.
func callPart(call *session.Call) g.Node {
	line := call.Tool
	if call.Command != "" {
		line = "$ " + call.Command
	}
	for _, word := range append(append([]string{call.Asked}, call.Wrote...), call.Read...) {
		if word != "" {
			line += " " + word
		}
	}
	wrong := call.Failed || (call.Exit != nil && *call.Exit != 0)
	how := "failed"
	if call.Exit != nil {
		how = fmt.Sprintf("exit %d", *call.Exit)
	}
	return h.Div(
		h.Class("event tool"),
		h.Code(page.Isolated(clipText(line))),
		g.If(wrong, g.Group{h.Text(" "), page.Badge("error", how, "")}),
		g.If(
			call.Output != "",
			h.Details(
				h.Summary(h.Text("Output")),
				h.Pre(h.Class("text"), page.Isolated(clipText(call.Output))),
			),
		),
	)
}

// injectionPart shows the memory that a hook added for the model.
func injectionPart(e session.Event) g.Node {
	i := e.Injection
	where := map[string]string{
		"start":  "when the session began",
		"prompt": "with the prompt",
		"action": "before an action",
	}[i.Place]
	return h.Details(
		h.Class("event injected"),
		h.Summary(h.Textf("oxbow showed notes %s: %d tokens", where, i.Tokens)),
		g.If(i.G > 0, h.P(h.Class("hint"), h.Textf("Strength %.2f, above the floor of %.2f.", i.G, i.Floor))),
		h.Ul(h.Class("chips"), h.Aria("label", "Entries shown"), g.Map(i.Shown, shownItem)),
		g.If(e.Text != "", h.Pre(h.Class("text"), page.Isolated(clipText(e.Text)))),
	)
}

// shownItem links to an entry or a turn that the model was shown.
func shownItem(s session.ShownEntry) g.Node {
	path := page.EntryPath(s.Name)
	if s.In == "sessions" {
		path = page.TurnPath(s.Name)
	}
	return h.Li(h.A(h.Class("chip"), h.Href(page.Root+path), page.Isolated(s.Name)))
}

// clipText returns the beginning of a text that is longer than turnBytes, otherwise the whole
// text.
func clipText(s string) string {
	if len(s) <= turnBytes {
		return s
	}
	return strings.ToValidUTF8(s[:turnBytes], "") + "\n… (the export contains the whole text)"
}
