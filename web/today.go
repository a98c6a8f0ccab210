// Today: what was written, proposed and shown to models since yesterday.

package web

import (
	"cmp"
	"slices"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
)

// recent is how many entries of today are listed.
const recent = 12

func today(c *call) (reply, error) {
	limit := recent
	list, err := tool.List(c.ctx, c.work, tool.ListIn{Limit: &limit})
	if err != nil {
		return nil, err
	}
	p := screen{title: "Today", live: true, lead: h.P(h.Class("lead"), g.Text(cmp.Or(map[bool]string{true: "Nothing is remembered yet."}[list.Total == 0], page.Plural(list.Total, "thing")+" remembered.")))}
	if list.Total == 0 {
		p.body = []g.Node{c.firstSteps()}
		return p, nil
	}
	p.body = []g.Node{h.Div(h.ID("live"), g.Attr("data-live", ""),
		c.waiting(), c.shownToday(),
		page.Section("written", "Written last", h.Ul(h.Class("rows"), g.Map(list.Entries, func(e tool.Entry) g.Node { return page.Row(c.now, e) })),
			h.P(h.A(h.Href(page.Root+page.FindPath("")), g.Text("All entries"))))),
	}
	return p, nil
}

// waiting tells of proposals and held entries that a person decides on.
func (c *call) waiting() g.Node {
	n := 0
	if inbox, err := tool.Inbox(c.ctx, c.work, tool.InboxIn{}); err == nil {
		n += len(inbox.Proposals)
	}
	if held, err := tool.Held(c.ctx, c.work, tool.HeldIn{}); err == nil {
		n += len(held.Entries)
	}
	if n == 0 {
		return nil
	}
	return h.P(h.Class("callout"), h.A(h.Href(page.Root+"inbox"), g.Text(page.Plural(n, "thing")+" waiting for your word")))
}

// shownToday sums up what hooks put before models since yesterday.
func (c *call) shownToday() g.Node {
	out, err := tool.Injected(c.ctx, c.work, tool.InjectedIn{Since: "1d"})
	if err != nil || out.Total.Injections == 0 {
		return nil
	}
	byClient := map[string]int{}
	for _, i := range out.Injections {
		byClient[i.Client]++
	}
	clients := slices.SortedFunc(func(yield func(string) bool) {
		for c := range byClient {
			if !yield(c) {
				return
			}
		}
	}, func(a, b string) int { return cmp.Compare(byClient[b], byClient[a]) })
	return page.Section("shown", "Put before models since yesterday",
		h.P(g.Textf("%s, %d tokens; of %d an entry was used.", page.Plural(out.Total.Injections, "time"), out.Total.Tokens, out.Total.Used)),
		h.Ul(h.Class("rows"), g.Map(clients, func(client string) g.Node {
			return h.Li(h.Class("row"), page.Isolated(client), g.Text(": "+page.Plural(byClient[client], "time")))
		})))
}

// firstSteps is what a person with an empty memory sees.
func (c *call) firstSteps() g.Node {
	return h.Div(h.Class("empty"),
		h.P(g.Text("Agents write here by themselves once they are connected: "), h.Code(g.Text("oxbow setup")), g.Text(".")),
		h.P(g.Text("Or begin by hand: "), h.A(h.Href(page.Root+"new"), g.Text("remember something")), g.Text(".")))
}
