// This file shows an entry's sources, and the entries that were made from it.

package web

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// lineageRow names an entry's source, or an entry that was made from it, and how both are related.
type lineageRow struct {
	name, relatedEntryName string
	relation               string
	seq                    uint64
}

// relationTexts contains, for each kind of relation between an entry and its source, the words that the page about an
// entry's sources shows.
var relationTexts = map[string]string{
	"from":   "named as a source",
	"merged": "merged into it",
	"words":  "shares its words",
}

func lineagePage(c *pageRequest) (pageReply, error) {
	out, err := history.Lineage(c.ctx, c.workspace, history.LineageIn{Name: c.entryNameFromPath()})
	if err != nil {
		return nil, err
	}
	s := pageWithNavigation{
		title:           "What it was made from",
		navPath:         "find",
		descriptionLine: h.P(h.Class("lead"), page.EntryLink(out.Name)),
	}
	if len(out.SourceEdges)+len(out.DerivedEdges) == 0 {
		s.bodyNodes = []g.Node{page.EmptyNotice("No source is known.", out.EmptyResultReasons)}
		return s, nil
	}
	var from, made []lineageRow
	for _, e := range out.SourceEdges {
		from = append(from, lineageRow{e.EntryName, e.SourceName, e.FoundBy, e.EntryVersion})
	}
	for _, e := range out.DerivedEdges {
		made = append(made, lineageRow{e.SourceName, e.EntryName, e.FoundBy, e.EntryVersion})
	}
	s.bodyNodes = []g.Node{lineageSection("from", "Made from", from), lineageSection("made", "Made of it", made)}
	return s, nil
}

// lineageSection returns a section with links to the entries of a lineage, or nil if the lineage is empty.
func lineageSection(id, title string, rows []lineageRow) g.Node {
	if rows == nil {
		return nil
	}
	return page.Section(id, title, h.Ul(h.Class("list"), g.Map(rows, func(r lineageRow) g.Node {
		return h.Li(
			page.EntryLink(r.relatedEntryName),
			h.Span(h.Class("dim"), h.Text(" ("+relationTexts[r.relation]+", change "+formatNumber(r.seq)+
				") ")),
			page.IsolatedText(r.name),
		)
	})))
}
