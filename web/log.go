// The log: every change, who made it, and what takes it back.

package web

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
)

// logPage is how many changes a page of the log has.
const logPage = 30

func changes(c *call) (reply, error) {
	limit, offset := logPage, max(0, c.number("offset", 0))
	out, err := tool.History(c.ctx, c.work, tool.HistoryIn{Limit: &limit, Offset: &offset})
	if err != nil {
		return nil, err
	}
	s := screen{title: "Log", at: "log", live: offset == 0, lead: h.P(h.Class("lead"), g.Text("Every change, the last first. Each can be taken back."))}
	if len(out.Changes) == 0 {
		s.body = []g.Node{page.Empty("Nothing was changed yet.", nil)}
		return s, nil
	}
	s.body = []g.Node{page.Notes(out.Notes),
		h.Ol(h.ID("changes"), g.Attr("data-live", ""), h.Class("rows"), g.Map(out.Changes, func(ch tool.Change) g.Node {
			return h.Li(h.Class("row"),
				h.Div(h.Class("head"), page.Badge("", strconv.FormatUint(ch.Seq, 10), "number of the change"), g.Text(page.DidWhat(ch))),
				h.Ul(g.Map(ch.Entries, func(e tool.Touched) g.Node {
					return h.Li(h.Class("meta"), page.EntryLink(e.Name), g.If(e.Snippet != "", page.Isolated(e.Snippet)))
				})),
				h.Div(h.Class("meta"), g.Text(page.Writer(ch.Source)+", "), page.When(c.now, page.Moment(ch.Time)),
					page.Button("undo", "plain", "Undo", "seq", strconv.FormatUint(ch.Seq, 10), "back", c.here())))
		})),
		page.Pager(c.r.URL, offset, out.Next, logPage)}
	return s, nil
}
