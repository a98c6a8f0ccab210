// This file builds the frame of each page: the head, the navigation, and the notice about the last change.

package page

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// NavigationItem is a link in the navigation.
type NavigationItem struct {
	Path, Name   string
	WaitingCount int // number of things on the linked page that wait for a decision
}

// PageFrame is a page with the navigation around its content.
type PageFrame struct {
	Title               string
	Status              int    // HTTP status (0 means 200)
	ReloadsLiveElements bool   // The elements with the attribute data-live are loaded again when the memory changes.
	CurrentPath         string // Path of the [NavigationItem] for this page

	NavigationItems []NavigationItem // links in the page's navigation that are always visible
	MoreItems       []NavigationItem // further links, which are shown on demand
	NewEntryPath    string           // path of the page that adds an entry ("" if this browser may only read)
	SearchText      string           // text in the search field
	// CSS selector of the element that is updated while the person types a query ("" if such an element does not
	// exist).
	TypingUpdateSelector string
	ChangeNotice         g.Node // notice about the last change (nil without a change)
	DescriptionLine      g.Node // line below the title that describes the page (may be nil)
	Body                 []g.Node
	FooterText           string // footer text, which says which part of the memory this browser sees
}

// Send writes the page as the answer to a request.
func (f PageFrame) Send(w http.ResponseWriter, a Assets) {
	htmlDocument{title: f.Title, status: f.Status, reloadsOnChange: f.ReloadsLiveElements}.send(w, a, h.Body(
		h.A(h.Class("skip"), h.Href("#main"), h.Text("Skip to the content")),
		h.Header(h.Class("top"), h.Div(
			h.Class("bar"),
			h.A(h.Class("brand"), h.Href(RootPath), logo(), h.Text("oxbow")),
			h.Form(h.Class("search"), h.Role("search"), h.Action(RootPath+
				"find"), g.If(f.TypingUpdateSelector != "", h.Attr("data-typed", f.TypingUpdateSelector)),
				h.Label(h.Class("hidden"), h.For("search"), h.Text("Find in the memory")),
				h.Input(
					h.ID("search"),
					h.Type("search"),
					h.Name("q"),
					h.Value(f.SearchText),
					h.Placeholder("Find: words, project:…, tag:…"),
					h.AutoComplete("off"),
					h.Attr("data-key", "/"),
				),
			),
			g.If(
				f.NewEntryPath != "",
				h.A(h.Class("button"), h.Href(RootPath+f.NewEntryPath), h.Attr("data-key", "n"), h.Text("New")),
			),
		)),
		h.Div(
			h.Class("frame"),
			h.Nav(
				h.ID("places"),
				h.Class("places"),
				h.Aria("label", "Places"),
				g.If(f.ReloadsLiveElements, h.Attr("data-live", "")),
				h.Ul(g.Map(f.NavigationItems, f.navigationLink)),
				f.furtherLinksGroup(),
			),
			h.Main(
				h.ID("main"),
				h.TabIndex("-1"),
				f.ChangeNotice,
				h.Div(h.Class("title"), h.H1(h.Text(f.Title)), f.DescriptionLine),
				g.Group(f.Body),
			),
		),
		h.Footer(h.P(h.Text(f.FooterText)), h.Form(h.Method("post"), h.Action(RootPath+
			"leave"), h.Button(h.Class("plain"), h.Text("Sign out")))),
		h.Div(h.ID("said"), h.Class("hidden"), h.Role("status"), h.Aria("live", "polite")),
	))
}

// navigationLink returns the link for an item of the navigation.
func (f PageFrame) navigationLink(p NavigationItem) g.Node {
	return h.Li(h.A(h.Href(RootPath+p.Path), g.If(p.Path == f.CurrentPath, h.Aria("current", "page")), h.Text(p.Name),
		g.If(p.WaitingCount > 0, g.Group{h.Text(" "), h.Span(h.Class("count"), h.Text(strconv.Itoa(p.WaitingCount))),
			h.Span(h.Class("hidden"), h.Text(" to decide"))})))
}

// furtherLinksGroup returns the group of further links. The group is open if it contains the link to the current page.
func (f PageFrame) furtherLinksGroup() g.Node {
	isCurrent := slices.ContainsFunc(f.MoreItems, func(p NavigationItem) bool { return p.Path == f.CurrentPath })
	return h.Details(h.ID("more"), g.If(isCurrent, h.Attr("open", "")), h.Summary(h.Text("More")),
		h.Ul(g.Map(f.MoreItems, f.navigationLink)))
}

// PageWithoutNavigation is a page without navigation, for a browser that is not signed in.
type PageWithoutNavigation struct {
	Title      string
	Status     int
	RedirectTo string // path to which the browser is redirected, including [RootPath] ("" if it is not redirected)
	Body       []g.Node
}

// Send writes the page as the answer to a request.
func (d PageWithoutNavigation) Send(w http.ResponseWriter, a Assets) {
	if d.RedirectTo != "" {
		w.Header().Set("Refresh", "0; url="+d.RedirectTo)
	}
	htmlDocument{title: d.Title, status: d.Status}.send(w, a, h.Body(h.Class("door"), h.Main(h.ID("main"),
		h.P(h.Class("brand"), logo(), h.Text("oxbow")), h.H1(h.Text(d.Title)), g.Group(d.Body))))
}

// htmlDocument is an HTML document without its body.
type htmlDocument struct {
	title           string
	status          int
	reloadsOnChange bool // The page is loaded again when the memory changes.
}

// send writes the document with its body as the answer to a request.
func (d htmlDocument) send(w http.ResponseWriter, a Assets, body g.Node) {
	var b bytes.Buffer
	err := h.Doctype(h.HTML(h.Lang("en"), h.Head(
		h.Meta(h.Charset("utf-8")),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		g.If(d.reloadsOnChange, h.Meta(h.Name("oxbow-live"), h.Content(RootPath+"events"))),
		h.TitleEl(h.Text(d.title+" · oxbow")),
		h.Link(h.Rel("icon"), h.Href(a.Path("mark.svg"))),
		h.Link(h.Rel("stylesheet"), h.Href(a.Path("style.css"))),
		h.Script(h.Type("module"), h.Src(a.Path("page.js"))),
	), body)).Render(&b)
	if err != nil {
		http.Error(w, "making the page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if d.status != 0 {
		w.WriteHeader(d.status)
	}
	_, _ = w.Write(b.Bytes()) // Ignore the error, because the browser has disconnected.
}
