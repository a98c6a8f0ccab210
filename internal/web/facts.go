// This file shows the facts about an entry: who wrote the entry and how, which files the entry
// cites, and how often models have seen the entry.

package web

import (
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// fact returns one row in the list of facts.
func fact(what string, value ...g.Node) g.Node {
	return h.Div(h.Dt(h.Text(what)), h.Dd(value...))
}

func factText(what, value string) g.Node {
	if value == "" {
		return nil
	}
	return fact(what, page.Isolated(value))
}

// entryFacts returns the facts that the page shows next to the text of an entry.
func (c *call) entryFacts(e verb.GetOut, past bool) g.Node {
	s := e.Source
	if !past {
		last := c.lastSource(e.Name)
		s.Session, s.Ref = last.Session, last.Ref
	}
	from := s.Ref
	if s.SessionName() != "" {
		from = ""
	}
	return h.Section(h.Aria("labelledby", "about"), h.H2(h.ID("about"), h.Text("Details")), h.Dl(h.Class("about"),
		fact("Written by", h.Text(c.viewer().Writer(e.Source)), g.If(s.Client != "" &&
			s.Agent != "", g.Group{h.Text(" in "), page.Isolated(s.Client)})),
		factText("Through", doors[s.Door]), sessionFact(s), factText("Profile", s.Profile),
		factText("From", from),
		fact(writtenWord(e.Entry), page.When(c.now, page.Moment(e.Updated)), h.Text(", change "+version(e.Entry))),
		g.If(e.Created != e.Updated, fact("First written", page.When(c.now, page.Moment(e.Created)))),
		factText("Also called", strings.Join(e.Aliases, ", ")),
		factText("Confidence", strings.Join(e.Labels[oxbow.LabelConfidence], ", ")),
		factText("Verified by", strings.Join(e.Labels[oxbow.LabelVerified], ", "))),
		citationList(e.Citations))
}

// writtenWord is the name of the time at which an entry's current version was stored.
func writtenWord(e verb.Entry) string {
	switch {
	case e.Source.By == string(oxbow.Imported):
		return "Imported"
	case e.Created == e.Updated:
		return "Written"
	}
	return "Changed"
}

// doors maps the interface through which an entry was written to its name on pages.
var doors = map[string]string{"cli": "the command line", "mcp": "an agent's tools (MCP)", "web": "these pages",
	"hook": "a hook of its client", "http": "the HTTP API", "": ""}

// lastSource returns the source of the entry's last change. It reads the history, because the
// entry itself does not record the session.
func (c *call) lastSource(name string) verb.Source {
	one := 1
	out, err := verb.History(c.ctx, c.work, verb.HistoryIn{Name: name, Limit: &one})
	if err != nil || len(out.Changes) == 0 {
		return verb.Source{}
	}
	return out.Changes[0].Source
}

// sessionFact links to the conversation in which the entry was written. If the client's
// session is not known, it links to the changes of the same run of a program.
func sessionFact(s verb.Source) g.Node {
	if link := sessionLink(s); link != nil {
		return fact("Session", link)
	}
	return nil
}

// citationList lists the files that an entry cites, with their state in the working tree now.
func citationList(refs []verb.FileRef) g.Node {
	if len(refs) == 0 {
		return nil
	}
	kinds := map[string]string{"FRESH": "good", "MOVED": "", "STALE": "warn"}
	return g.Group{
		h.H3(h.Text("Related files")),
		h.Ul(h.Class("files"), g.Map(refs, func(r verb.FileRef) g.Node {
			return h.Li(
				h.Code(page.Isolated(r.File)),
				h.Text(" "),
				page.Badge(kinds[r.State], strings.ToLower(r.State), r.How),
				g.If(r.Now != "", g.Group{h.Text(" now "), h.Code(page.Isolated(r.Now))}),
			)
		})),
	}
}

// nearShown is the maximum number of similar entries on a page.
const nearShown = 4

// nearEntries lists entries that a search for the name and the first 200 bytes of the entry
// finds.
func (c *call) nearEntries(e verb.GetOut) g.Node {
	if strings.TrimSpace(*e.Content) == "" {
		return nil
	}
	limit := nearShown + 1
	out, err := verb.Recall(c.ctx, c.work, verb.RecallIn{Query: plainWords(e.Name + " " +
		strings.ToValidUTF8((*e.Content)[:min(len(*e.Content), 200)], "")), Limit: &limit})
	if err != nil {
		return nil
	}
	var rows g.Group
	for _, n := range out.Hits {
		if n.ID != e.ID && len(rows) < nearShown {
			rows = append(
				rows,
				h.Li(
					page.EntryLink(n.Name),
					h.Span(h.Class("dim"), h.Text(", "), page.When(c.now, page.EntryDate(n))),
				),
			)
		}
	}
	if rows == nil {
		return nil
	}
	return h.Section(
		h.Aria("labelledby", "near"),
		h.H2(h.ID("near"), h.Text("Similar entries")),
		h.Ul(h.Class("list"), rows),
	)
}
