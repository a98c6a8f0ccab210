// This file shows the turns of a session, including the texts from the memory that hooks showed to the model. The page
// does not reuse the plain text that the command line prints for a session, because on the page a person can fold each
// turn, link to a turn, and turn it into a note.

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
	turnPageSize = 10    // number of turns that the page of a session shows at once
	maxTurnBytes = 6_000 // maximum size of a shown text (an export contains the whole text)
)

// sessionID returns the session in the path of the request.
func (c *pageRequest) sessionID() string {
	return c.r.PathValue("client") + "/" + c.r.PathValue("session")
}

func sessionTurnsPage(c *pageRequest) (pageReply, error) {
	if c.workspace.Sessions == nil {
		return notFoundPage(c)
	}
	out, err := sessions.ShowSession(c.ctx, c.workspace, sessions.SessionIn{Session: c.sessionID()})
	if err != nil {
		return nil, err
	}
	path := page.SessionPath(out.Client, out.Session, 0)
	from := max(0, c.formNumber("offset", 0))
	if turn := c.formNumber("turn", 0); turn > 0 { // show the page that contains this turn
		for i, t := range out.Turns {
			if t.Number == turn {
				from = i / turnPageSize * turnPageSize
			}
		}
	}
	from = min(from, max(0, len(out.Turns)-1))
	to := min(from+turnPageSize, len(out.Turns))
	next := 0
	if to < len(out.Turns) {
		next = to
	}
	return pageWithNavigation{
		title:           sessionTitle(out),
		navPath:         "sessions",
		descriptionLine: c.sessionSummaryLine(out),
		bodyNodes: []g.Node{
			c.sessionChangesSection(out.Client + "/" + out.Session),
			h.Ol(h.Class("turns"), h.Attr("data-keys", ""), g.Map(out.Turns[from:to], c.turnItem)),
			turnPager(page.RootPath+path, from, next),
			h.Div(
				h.Class("actions"),
				h.A(
					h.Class("button"),
					h.Href(page.RootPath+path+"/export?form=markdown"),
					h.Text("Export as Markdown"),
				),
				h.A(h.Class("button"), h.Href(page.RootPath+path+"/export?form=json"), h.Text("Export as JSON")),
				g.If(c.mayWrite(),
					h.A(h.Class("button"), h.Href(page.RootPath+path+"/forget"), h.Text("Forget the session…"))),
			),
		},
	}, nil
}

// maxTitleBytes is the maximum length in bytes of a session's title.
const maxTitleBytes = 90

// sessionTitle returns the session's title, or the beginning of the first prompt if the session has no title. Without
// either, the title is "Session" and the beginning of the session's ID.
func sessionTitle(out sessions.SessionOut) string {
	prompt := strings.Join(strings.Fields(out.DisplayTitle()), " ")
	if prompt == "" {
		return "Session " + page.VisibleText(out.Session[:min(len(out.Session), 8)])
	}
	return page.VisibleText(text.TruncateWithEllipsis(prompt, maxTitleBytes))
}

// sessionSummaryLine returns a line that says when and where the session took place.
func (c *pageRequest) sessionSummaryLine(out sessions.SessionOut) g.Node {
	where := out.Dir
	if out.Branch != "" {
		where += " on branch " + out.Branch
	}
	return h.Div(h.Class("meta"),
		page.Badge("", page.VisibleText(out.Client), ""),
		g.If(out.Project != "", h.Span(page.IsolatedText(out.Project))),
		h.Span(h.Text(page.CountWithNoun(out.TurnCount, "turn")+", "), page.RelativeTime(c.now, out.LastTime)),
		g.If(where != "", h.Span(page.IsolatedText(where))),
		h.Span(h.Text("session "), h.Code(page.IsolatedText(out.Session))))
}

// turnPager returns links to earlier and later turns of a session.
func turnPager(path string, firstTurn, nextTurn int) g.Node {
	at := func(offset int, rel, text string) g.Node {
		return h.A(h.Rel(rel), h.Href(path+"?offset="+strconv.Itoa(offset)), h.Text(text))
	}
	return g.If(firstTurn > 0 || nextTurn > 0, h.Nav(h.Class("pager"), h.Aria("label", "Pages"),
		g.If(firstTurn > 0, at(max(0, firstTurn-turnPageSize), "prev", "Earlier turns")),
		g.If(nextTurn > 0, at(nextTurn, "next", "Later turns"))))
}

// turnItem shows the events of a turn in order.
func (c *pageRequest) turnItem(t session.Turn) g.Node {
	id := "turn-" + strconv.Itoa(t.Number)
	var parts []g.Node
	for _, e := range t.Events {
		parts = append(parts, eventNode(e))
	}
	taints := t.ForeignTextCalls()
	return h.Li(h.ID(id), h.Class("turn"),
		h.Div(h.Class("head"), h.H2(h.A(h.Href("#"+
			id), h.Textf("Turn %d", t.Number))), h.Span(h.Class("meta"), page.RelativeTime(c.now, t.StartTime)),
			g.If(len(taints) > 0, page.Badge("warn", "read texts of others", strings.Join(taints, "; ")))),
		g.Group(parts),
		g.If(t.HasOmittedEvents, h.P(h.Class("hint"), h.Text("The turn was too large, and only a part was stored."))),
		g.If(
			c.mayWrite(),
			h.Div(
				h.Class("actions"),
				h.A(
					h.Class("button"),
					h.Attr("data-key", "n"),
					h.Href(
						page.RootPath+page.SessionPath(t.Client, t.Session, 0)+"/note?turn="+strconv.Itoa(t.Number),
					),
					h.Text("Make a note of it"),
				),
			),
		))
}

// eventNode shows an event of a turn. It returns nil if nothing is shown for the event.
func eventNode(e session.Event) g.Node {
	said := func(class, who, text string) g.Node {
		return h.Div(
			h.Class("event "+class),
			h.P(h.Class("who"), h.Text(who)),
			h.Div(h.Class("words"), page.IsolatedText(clipTurnText(text))),
		)
	}
	switch e.Kind {
	case session.KindPrompt:
		return said("prompt", "Person", e.Text)
	case session.KindText:
		return said("answer", "Agent", e.Text)
	case session.KindPlan:
		return said("answer", "Plan", e.Text)
	case session.KindCompact:
		return said("answer", "Summary after compaction", e.Text)
	case session.KindToolCall:
		return g.Iff(e.Call != nil, func() g.Node { return toolCallNode(e.Call) })
	case session.KindInjection:
		return g.Iff(e.Injection != nil, func() g.Node { return injectionNode(e) })
	}
	return nil
}

// toolCallNode shows a tool call and its command or files.
func toolCallNode(call *session.ToolCall) g.Node {
	line := call.Tool
	if call.Command != "" {
		line = "$ " + call.Command
	}
	for _, word := range append(append([]string{call.WebQuery}, call.WrittenFiles...), call.ReadFiles...) {
		if word != "" {
			line += " " + word
		}
	}
	wrong := call.Failed || (call.ExitStatus != nil && *call.ExitStatus != 0)
	how := "failed"
	if call.ExitStatus != nil {
		how = fmt.Sprintf("exit %d", *call.ExitStatus)
	}
	return h.Div(
		h.Class("event tool"),
		h.Code(page.IsolatedText(clipTurnText(line))),
		g.If(wrong, g.Group{h.Text(" "), page.Badge("error", how, "")}),
		g.If(
			call.Output != "",
			h.Details(
				h.Summary(h.Text("Output")),
				h.Pre(h.Class("text"), page.IsolatedText(clipTurnText(call.Output))),
			),
		),
	)
}

// injectionNode shows the text of the memory that a hook showed to the model.
func injectionNode(e session.Event) g.Node {
	i := e.Injection
	where := map[string]string{
		"start":  "when the session began",
		"prompt": "with the prompt",
		"action": "before an action",
	}[i.HookEvent]
	return h.Details(
		h.Class("event injected"),
		h.Summary(h.Textf("oxbow showed notes %s: %d tokens", where, i.TokenCount)),
		g.If(
			i.BestMatchStrength > 0,
			h.P(
				h.Class("hint"),
				h.Textf("Strength %.2f, above the floor of %.2f.", i.BestMatchStrength, i.MinMatchStrength),
			),
		),
		h.Ul(h.Class("chips"), h.Aria("label", "Entries shown"), g.Map(i.ShownEntries, shownEntryItem)),
		g.If(e.Text != "", h.Pre(h.Class("text"), page.IsolatedText(clipTurnText(e.Text)))),
	)
}

// shownEntryItem returns a link to an entry or a turn that was shown to the model.
func shownEntryItem(s session.ShownEntry) g.Node {
	path := page.EntryPath(s.Name)
	if s.SourceKind == "sessions" {
		path = page.TurnPath(s.Name)
	}
	return h.Li(h.A(h.Class("chip"), h.Href(page.RootPath+path), page.IsolatedText(s.Name)))
}

// clipTurnText returns the beginning of a text if it is longer than maxTurnBytes. Otherwise it returns the whole text.
func clipTurnText(s string) string {
	if len(s) <= maxTurnBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxTurnBytes], "") + "\n… (the export contains the whole text)"
}
