// The frame of every page: its head, the way around, and what was done last.

package page

import (
	"bytes"
	"net/http"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Place is an entry of the navigation.
type Place struct{ Path, Name string }

// Frame is a whole page.
type Frame struct {
	Title  string
	Status int    // of HTTP; 0 is 200
	Live   bool   // parts with data-live follow the memory
	At     string // the path of the place that the page belongs to

	Places [][]Place // the navigation, in groups
	Search string    // what the field at the top holds
	Typed  string    // selects the part that changes while it is typed in; "" for none
	Done   g.Node    // tells of the last change; nil for none
	Lead   g.Node    // below the title: one line that says what this is; nil for none
	Body   []g.Node
	Foot   string // as whom, and what, this browser sees
}

// Send writes the page.
func (f Frame) Send(w http.ResponseWriter, a Assets) {
	write(w, a, f.Title, f.Status, f.Live, h.Body(
		h.A(h.Class("skip"), h.Href("#main"), h.Text("Skip to the content")),
		h.Header(h.Class("top"),
			h.A(h.Class("brand"), h.Href(Root), mark(), h.Text("oxbow")),
			h.Form(h.Class("search"), h.Role("search"), h.Action(Root+"find"), g.If(f.Typed != "", h.Attr("data-typed", f.Typed)),
				h.Label(h.Class("hidden"), h.For("search"), h.Text("Find in the memory")),
				h.Input(h.ID("search"), h.Type("search"), h.Name("q"), h.Value(f.Search), h.Placeholder("Find: words, project:…, tag:…"), h.AutoComplete("off"), h.Attr("data-key", "/")),
			),
		),
		h.Div(h.Class("frame"),
			h.Nav(h.Class("places"), h.Aria("label", "Places"), g.Map(f.Places, func(ps []Place) g.Node {
				return h.Ul(g.Map(ps, func(p Place) g.Node {
					return h.Li(h.A(h.Href(Root+p.Path), g.If(p.Path == f.At, h.Aria("current", "page")), h.Text(p.Name)))
				}))
			})),
			h.Main(h.ID("main"), h.TabIndex("-1"), f.Done, h.Div(h.Class("title"), h.H1(h.Text(f.Title)), f.Lead), g.Group(f.Body)),
		),
		h.Footer(h.P(h.Text(f.Foot)), h.Form(h.Method("post"), h.Action(Root+"leave"), h.Button(h.Class("plain"), h.Text("Sign out")))),
		h.Div(h.ID("said"), h.Class("hidden"), h.Role("status"), h.Aria("live", "polite")),
	))
}

// Door is a page outside the frame, for a browser that is not signed in.
type Door struct {
	Title  string
	Status int
	To     string // the page that it leads on to, with [Root]; "" for none
	Body   []g.Node
}

// Send writes the page.
func (d Door) Send(w http.ResponseWriter, a Assets) {
	if d.To != "" {
		w.Header().Set("Refresh", "0; url="+d.To)
	}
	write(w, a, d.Title, d.Status, false, h.Body(h.Class("door"), h.Main(h.ID("main"),
		h.P(h.Class("brand"), mark(), h.Text("oxbow")), h.H1(h.Text(d.Title)), g.Group(d.Body))))
}

// write sends a document.
func write(w http.ResponseWriter, a Assets, title string, status int, live bool, body g.Node) {
	var b bytes.Buffer
	err := h.Doctype(h.HTML(h.Lang("en"), h.Head(
		h.Meta(h.Charset("utf-8")),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		g.If(live, h.Meta(h.Name("oxbow-live"), h.Content(Root+"events"))),
		h.TitleEl(h.Text(title+" · oxbow")),
		h.Link(h.Rel("icon"), h.Href(a.Path("mark.svg"))),
		h.Link(h.Rel("stylesheet"), h.Href(a.Path("style.css"))),
		h.Script(h.Type("module"), h.Src(a.Path("page.js"))),
	), body)).Render(&b)
	if err != nil {
		http.Error(w, "making the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if status != 0 {
		w.WriteHeader(status)
	}
	_, _ = w.Write(b.Bytes()) // the browser is gone
}
