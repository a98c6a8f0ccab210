// This file implements the page Log. It shows every change with its author and a button that undoes the change. The
// page does not use the text report that the command "oxbow log" prints, because a text report cannot contain buttons.

package web

import (
	"net/url"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	logPageSize            = 30 // number of changes on a log page
	maxEntryNamesPerLogRow = 5  // maximum number of entries that a log row names
	maxDiffedEntries       = 20 // maximum number of entries whose difference a change's page shows
)

func changesPage(c *pageRequest) (pageReply, error) {
	limit, offset := logPageSize, max(0, c.formNumber("offset", 0))
	name := c.formValue("entry")
	by := c.formValue("by")
	session := c.formValue("session")
	out, err := verb.ListHistory(
		c.ctx,
		c.workspace,
		verb.HistoryIn{Name: name, ActorKind: by, Session: session, Limit: &limit, Offset: &offset},
	)
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:               "Log",
		navPath:             "log",
		reloadsLiveElements: offset == 0,
		descriptionLine:     h.P(h.Class("lead"), h.Text("Every change, the newest first. You can undo each of them.")),
	}
	s.bodyNodes = []g.Node{c.logFilters(name, by, session)}
	if len(out.Changes) == 0 {
		s.bodyNodes = append(
			s.bodyNodes,
			page.EmptyNotice("No change matches.", out.Notes, g.If(name+by+session != "", h.P(h.A(h.Href(page.RootPath+
				"log"), h.Text("All changes"))))),
		)
		return s, nil
	}
	s.bodyNodes = append(
		s.bodyNodes,
		h.Ol(
			h.ID("changes"),
			h.Attr("data-live", ""),
			h.Attr("data-keys", ""),
			h.Class("rows"),
			c.changeLogRows(out.Changes),
		),
		page.Pager(c.r.URL, offset, out.NextOffset, logPageSize),
	)
	return s, nil
}

// logFilters returns a form with the filters, and the actions for a whole session.
func (c *pageRequest) logFilters(name, actor, session string) g.Node {
	actors := []string{"", "person", "agent", "import", "tool"}
	names := map[string]string{
		"":       "anyone",
		"person": c.pageViewer().WriterName(verb.Source{Actor: string(oxbow.Person)}),
		"agent":  "an agent",
		"import": "an import",
		"tool":   "a program",
	}
	return g.Group{h.Form(
		h.Class("actions filters"),
		h.Action(page.RootPath+"log"),
		h.Label(h.For("by"), h.Text("By")),
		h.Select(h.ID("by"), h.Name("by"), g.Map(actors, func(a string) g.Node {
			return h.Option(h.Value(a), g.If(a == actor, h.Selected()), h.Text(names[a]))
		})),
		h.Label(h.For("entry"), h.Text("Entry")),
		h.Input(h.ID("entry"), h.Name("entry"), h.Value(name), h.AutoComplete("off")),
		g.If(session != "", page.HiddenFields("session", session)),
		h.Button(
			h.Text("Show"),
		),
		g.If(name+actor+session != "", h.A(h.Href(page.RootPath+"log"), h.Text("All changes"))),
	),
		g.If(
			session != "",
			h.Div(
				h.Class("callout"),
				h.P(h.Text("Changes of session "), h.Code(page.IsolatedText(session)), h.Text(". "),
					g.If(c.canDecideAsPerson(), revertLink(session, "Undo all of them…"))),
			),
		)}
}

// changeLogRows shows changes. Successive changes by one session, and the parts of one import, have a common heading.
func (c *pageRequest) changeLogRows(changes []verb.Change) (rows g.Group) {
	for len(changes) > 0 {
		key := changeGroupKey(changes[0].Source)
		n := 1
		for key != "" && n < len(changes) && changeGroupKey(changes[n].Source) == key {
			n++
		}
		isGroup := n > 1 || changes[0].Source.SessionName() != ""
		if isGroup {
			rows = append(rows, c.changeGroupHeading(changes[:n]))
		}
		for _, ch := range changes[:n] {
			rows = append(rows, c.changeRow(ch, isGroup))
		}
		changes = changes[n:]
	}
	return rows
}

// changeGroupKey identifies the client's session or the import that made a change. It is "" if the change belongs to
// neither.
func changeGroupKey(s verb.Source) string {
	if name := s.SessionName(); name != "" {
		return name
	}
	if s.Actor == string(oxbow.Imported) {
		return s.Session
	}
	return ""
}

// changeGroupHeading returns the heading of successive changes by one session or import.
func (c *pageRequest) changeGroupHeading(changes []verb.Change) g.Node {
	src := changes[0].Source
	session := changeGroupKey(src)
	count := page.CountWithNoun(len(changes), "change")
	title := g.Group{h.Text("An import: " + count)}
	if client, id, ok := strings.Cut(src.SessionName(), "/"); ok {
		title = g.Group{h.A(h.Href(page.RootPath+page.SessionPath(client, id, 0)), h.Text("A session of "),
			page.IsolatedText(client)), h.Text(": " + count)}
	}
	return h.Li(h.Class("row group"),
		h.Div(h.Class("head"), h.H2(h.Class("small"), title), h.Span(h.Class("meta"),
			page.RelativeTime(c.now, page.ParseTime(changes[0].Time)))),
		g.If(c.canDecideAsPerson(), h.Div(h.Class("actions"), revertLink(session, "Undo…"))))
}

// changeRow shows a change. If isInGroup is set, the change belongs to a group with a common heading, and changeRow
// leaves out the link to the session, because the heading contains it.
func (c *pageRequest) changeRow(ch verb.Change, isInGroup bool) g.Node {
	seq := formatNumber(ch.Seq)
	named := ch.Entries[:min(maxEntryNamesPerLogRow, len(ch.Entries))]
	snippet := "" // beginning of the entry's text (only if exactly one entry was changed)
	if len(named) == 1 {
		snippet = page.StripMarkdown(named[0].Snippet)
	}
	class := "row"
	if isInGroup {
		class += " member"
	}
	return h.Li(h.Class(class), h.ID("change-"+seq),
		h.Div(
			h.Class("head"),
			page.Badge("", seq, "number of the change"),
			h.H2(h.Class("small"), c.changeDescription(ch)),
		),
		g.If(len(ch.Entries) > 1, h.P(h.Class("snippet"), g.Map(named, func(e verb.TouchedEntry) g.Node {
			return h.Span(h.Class("item"), page.EntryLink(e.Name))
		}))),
		g.If(snippet != "", h.P(h.Class("snippet dim"), page.IsolatedText(snippet))),
		h.Div(
			h.Class("meta"),
			h.Span(h.Text(c.pageViewer().WriterName(ch.Source)+
				", "), page.RelativeTime(c.now, page.ParseTime(ch.Time))),
			page.IsolatedText(ch.Note),
			g.If(!isInGroup, sessionLink(ch.Source)),
			h.A(h.Href(page.RootPath+"log/"+seq), h.Attr("data-inline", "#change"), h.Text("Show the change")),
			g.If(
				c.mayWrite(),
				page.PostButton("undo", "plain", undoButtonText(ch), "seq", seq, "back", c.currentPath()),
			),
		))
}

// changeDescription describes the effect of a change. If only one entry was changed, it contains a link to the entry.
func (c *pageRequest) changeDescription(ch verb.Change) g.Node {
	if len(ch.Entries) != 1 {
		return h.Text(page.DescribeChange(ch))
	}
	return g.Group{h.Text(page.VerbForChange(ch) + " "), page.EntryLink(ch.Entries[0].Name)}
}

// undoButtonText returns the text of the button that undoes a change. The text is "Redo" if the change is itself an
// undo.
func undoButtonText(ch verb.Change) string {
	if len(ch.RevertedSeqs) > 0 {
		return "Redo"
	}
	return "Undo"
}

// sessionLink returns a link to the conversation in which a change was made. If the conversation is not known, the link
// leads to all changes of the same program run. For a change by a person without a conversation, the result is nil,
// because each command of a person is a separate run.
func sessionLink(s verb.Source) g.Node {
	if client, id, ok := strings.Cut(s.SessionName(), "/"); ok {
		return h.A(h.Href(page.RootPath+page.SessionPath(client, id, 0)),
			h.Text("the conversation "), page.IsolatedText(id[:min(len(id), 8)]))
	}
	if s.Session == "" || s.Actor == string(oxbow.Person) {
		return nil
	}
	return h.A(
		h.Href(page.RootPath+"log?"+url.Values{"session": {s.Session}}.Encode()),
		h.Text("session "),
		page.IsolatedText(s.Session[:min(len(s.Session), 8)]),
	)
}

// changeDetailPage is the page of a change. It shows the effect on each entry.
func changeDetailPage(c *pageRequest) (pageReply, error) {
	seq, err := parseChangeNumber(c.r.PathValue("seq"))
	if err != nil {
		return nil, err
	}
	ch, err := verb.ChangeAt(c.ctx, c.workspace, seq)
	if err != nil {
		return nil, err
	}
	more := len(ch.Entries) - maxDiffedEntries
	return pageWithNavigation{
		title:   "Change " + formatNumber(seq),
		navPath: "log",
		descriptionLine: h.Div(h.Class("meta"), h.Span(h.Text(c.pageViewer().WriterName(ch.Source)+
			", "), page.RelativeTime(c.now, page.ParseTime(ch.Time))), page.IsolatedText(ch.Note),
			sessionLink(ch.Source)),
		bodyNodes: []g.Node{h.P(h.Text(page.DescribeChange(ch))),
			h.Div(
				h.ID("change"),
				h.Class("rows"),
				g.Map(ch.Entries[:min(maxDiffedEntries, len(ch.Entries))], func(t verb.TouchedEntry) g.Node {
					return h.Div(h.Class("row"), h.P(page.EntryLink(t.Name)), c.changeDiff(t, seq))
				}), g.If(more > 0, h.P(h.Class("dim"), h.Text("And "+page.CountWithNoun(more, "other")+"."))),
			),
			g.If(
				c.mayWrite(),
				page.PostButton("undo", "", "Undo this change", "seq", formatNumber(seq), "back", c.currentPath()),
			)},
	}, nil
}
