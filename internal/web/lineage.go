// This file shows an entry's sources, and the entries that were made from it.

package web

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// lineageRow is one edge of the lineage as the page shows it.
type lineageRow struct {
	name, other string
	how         string
	seq         uint64
}

// ways maps the kind of an edge to its text on the page.
var ways = map[string]string{"from": "named as a source", "merged": "merged into it", "words": "shares its words"}

func lineagePage(c *call) (reply, error) {
	out, err := history.Lineage(c.ctx, c.work, history.LineageIn{Name: c.name()})
	if err != nil {
		return nil, err
	}
	s := screen{title: "What it was made from", navPath: "find", lead: h.P(h.Class("lead"), page.EntryLink(out.Name))}
	if len(out.Sources)+len(out.Made) == 0 {
		s.body = []g.Node{page.Empty("No source is known.", out.Why)}
		return s, nil
	}
	var from, made []lineageRow
	for _, e := range out.Sources {
		from = append(from, lineageRow{e.Name, e.From, e.How, e.Seq})
	}
	for _, e := range out.Made {
		made = append(made, lineageRow{e.From, e.Name, e.How, e.Seq})
	}
	s.body = []g.Node{edgeList("from", "Made from", from), edgeList("made", "Made of it", made)}
	return s, nil
}

func edgeList(id, title string, rows []lineageRow) g.Node {
	if rows == nil {
		return nil
	}
	return page.Section(id, title, h.Ul(h.Class("list"), g.Map(rows, func(r lineageRow) g.Node {
		return h.Li(page.EntryLink(r.other), h.Span(h.Class("dim"), h.Text(" ("+ways[r.how]+", change "+number(r.seq)+
			") ")), page.Isolated(r.name))
	})))
}
