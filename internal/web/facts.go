// This file shows facts about an entry: by whom and how the entry was written, which files it cites, and how often
// models were shown the entry.

package web

import (
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// entryFactRow returns one row in the list of facts.
func entryFactRow(factName string, value ...g.Node) g.Node {
	return h.Div(h.Dt(h.Text(factName)), h.Dd(value...))
}

func entryTextFactRow(factName, value string) g.Node {
	if value == "" {
		return nil
	}
	return entryFactRow(factName, page.IsolatedText(value))
}

// entryFacts returns the facts that the page shows next to the text of an entry.
func (c *pageRequest) entryFacts(e verb.GetOut, isPastVersion bool) g.Node {
	s := e.Source
	if !isPastVersion {
		last := c.findLastChangeSource(e.Name)
		s.Session, s.Ref = last.Session, last.Ref
	}
	from := s.Ref
	if s.SessionName() != "" {
		from = ""
	}
	return h.Section(h.Aria("labelledby", "about"), h.H2(h.ID("about"), h.Text("Details")), h.Dl(
		h.Class("about"),
		entryFactRow("Written by", h.Text(c.pageViewer().WriterName(e.Source)), g.If(s.Client != "" &&
			s.Agent != "", g.Group{h.Text(" in "), page.IsolatedText(s.Client)})),
		entryTextFactRow("Through", interfaceDisplayNames[s.Door]),
		sessionFactRow(s),
		entryTextFactRow("Profile", s.Profile),
		entryTextFactRow("From", from),
		entryFactRow(
			writtenTimeLabel(e.Entry),
			page.RelativeTime(c.now, page.ParseTime(e.Updated)),
			h.Text(", change "+formatEntryVersion(e.Entry)),
		),
		g.If(
			e.Created != e.Updated,
			entryFactRow("First written", page.RelativeTime(c.now, page.ParseTime(e.Created))),
		),
		entryTextFactRow("Also called", strings.Join(e.Aliases, ", ")),
		entryTextFactRow("Confidence", strings.Join(e.Labels[oxbow.LabelConfidence], ", ")),
		entryTextFactRow("Verified by", strings.Join(e.Labels[oxbow.LabelVerified], ", ")),
	),
		citationList(e.Citations))
}

// writtenTimeLabel returns the word that a page shows before the time of an entry's present version. The word is
// "Imported", "Written" or "Changed". "Written" means that the entry has not changed since it was created.
func writtenTimeLabel(e verb.Entry) string {
	switch {
	case e.Source.Actor == string(oxbow.Imported):
		return "Imported"
	case e.Created == e.Updated:
		return "Written"
	}
	return "Changed"
}

// interfaceDisplayNames contains, for each interface through which an entry can be written, its name on pages.
var interfaceDisplayNames = map[string]string{
	"cli":  "the command line",
	"mcp":  "an agent's tools (MCP)",
	"web":  "these pages",
	"hook": "a hook of its client",
	"http": "the HTTP API",
	"":     "",
}

// findLastChangeSource returns the source of the entry's last change. It reads the history, because the
// entry itself does not record the session.
func (c *pageRequest) findLastChangeSource(name string) verb.Source {
	one := 1
	out, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Name: name, Limit: &one})
	if err != nil || len(out.Changes) == 0 {
		return verb.Source{}
	}
	return out.Changes[0].Source
}

// sessionFactRow returns a row with a link to the conversation in which the entry was written, or to the changes of the
// same program run. It returns nil if sessionLink finds no link.
func sessionFactRow(s verb.Source) g.Node {
	if link := sessionLink(s); link != nil {
		return entryFactRow("Session", link)
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
				h.Code(page.IsolatedText(r.File)),
				h.Text(" "),
				page.Badge(kinds[r.State], strings.ToLower(r.State), r.StateText),
				g.If(r.NewPath != "", g.Group{h.Text(" now "), h.Code(page.IsolatedText(r.NewPath))}),
			)
		})),
	}
}

// maxSimilarEntries is the maximum number of similar entries on a page.
const maxSimilarEntries = 4

// similarEntries lists entries that are similar to the entry e. They are found by a search for the entry's name and its
// first 200 bytes. It returns nil if no other entry is found.
func (c *pageRequest) similarEntries(e verb.GetOut) g.Node {
	if strings.TrimSpace(*e.Content) == "" {
		return nil
	}
	limit := maxSimilarEntries + 1
	out, err := verb.Recall(c.ctx, c.workspace, verb.RecallIn{Query: wordsWithoutOperators(e.Name + " " +
		strings.ToValidUTF8((*e.Content)[:min(len(*e.Content), 200)], "")), Limit: &limit})
	if err != nil {
		return nil
	}
	var rows g.Group
	for _, n := range out.Hits {
		if n.ID != e.ID && len(rows) < maxSimilarEntries {
			rows = append(
				rows,
				h.Li(
					page.EntryLink(n.Name),
					h.Span(h.Class("dim"), h.Text(", "), page.RelativeTime(c.now, page.EntryDate(n))),
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
