// One entry: its text, who wrote it and why, its versions, and the forms that change it.

package web

import (
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
)

func entry(c *call) (reply, error) {
	name := c.r.PathValue("name")
	e, err := tool.Get(c.ctx, c.work, tool.GetIn{Name: name})
	if err != nil {
		return nil, err
	}
	if e.Content == nil {
		e.Content = new(string)
	}
	return screen{title: page.Visible(e.Name), at: "find", lead: h.Div(h.Class("meta"), page.TrustBadge(e.Trust), page.Chips(e.Labels), h.Span(g.Text(page.Writer(e.Source)+", "), page.When(c.now, page.Moment(e.Updated)))),
		body: []g.Node{
			h.Pre(h.Class("text"), page.Isolated(*e.Content)),
			h.Div(h.Class("actions"), page.Button(page.EntryPath(e.Name)+"/forget", "", "Forget", "version", strconv.FormatUint(e.Version, 10))),
		}}, nil
}

func forget(c *call) (reply, error) {
	out, err := tool.Forget(c.ctx, c.work, tool.ForgetIn{Name: c.r.PathValue("name"), IfVersion: c.base()})
	if err != nil {
		return nil, err
	}
	return redirect{to: "", change: out.Seq}, nil
}
