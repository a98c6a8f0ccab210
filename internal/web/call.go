// One request of a browser that is signed in: who acts, what it gives, and how it is
// answered.

package web

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/view"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// handler answers one request. An error becomes a page that says it, with what to do.
type handler func(c *call) (reply, error)

// call is one request.
type call struct {
	ctx     context.Context // stamped with the session's source
	r       *http.Request
	now     time.Time // in the location that dates are shown in
	view    *view.View
	work    *verb.Workspace
	actor   oxbow.Actor
	feed    *verb.Feed
	version string // of the program
	sample  bool   // the memory is one that is thrown away
	noFiles bool   // no page writes files
}

// reply is what a handler gives: a [screen] or a [redirect].
type reply interface {
	send(c *call, w http.ResponseWriter, a page.Assets)
}

// screen is a page inside the frame.
type screen struct {
	title  string
	at     string // the path of the place in the navigation that it belongs to
	lead   g.Node // below the title: one line that says what this is; nil for none
	body   []g.Node
	status int  // 200 by default
	live   bool // parts with data-live follow the memory
}

// places are the navigation: what a person does each day, then what is there.
var places = [][]page.Place{
	{{Path: "", Name: "Today"}, {Path: "find", Name: "Find"}, {Path: "inbox", Name: "Inbox"}, {Path: "log", Name: "Log"}, {Path: "sessions", Name: "Sessions"}},
	{{Path: "context", Name: "Context"}, {Path: "ask", Name: "Ask"}, {Path: "profiles", Name: "Profiles"}, {Path: "handoffs", Name: "Handoffs"}, {Path: "annotations", Name: "Annotations"}, {Path: "map", Name: "Map"}},
	{{Path: "settings", Name: "Settings"}},
}

func (s screen) send(c *call, w http.ResponseWriter, a page.Assets) {
	f := page.Frame{Title: s.title, Status: s.status, Live: s.live, At: s.at, Places: places, Done: c.done(), Lead: s.lead, Body: s.body, Foot: c.standing()}
	if c.r.URL.Path == page.Root+"find" {
		f.Search, f.Typed = c.value("q"), "#results"
	}
	f.Send(w, a)
}

// standing says what this browser sees, and of which program.
func (c *call) standing() string {
	s := "All of the memory"
	if c.view.Rights.ReadOnly || c.view.Partial() {
		s = "This browser " + c.view.Rights.String()
	}
	if c.sample {
		s += ", a sample that is thrown away in the end"
	}
	return s + ". oxbow " + c.version
}

// looked is how many of the last changes are looked through for the one to tell of.
const looked = 50

// done shows the change that a form made, with a button to undo it.
func (c *call) done() g.Node {
	if c.r.Method != http.MethodGet {
		return nil
	}
	var said g.Node
	if text := c.value("said"); text != "" {
		said = h.P(h.Class("done"), h.Role("status"), h.Text(page.Visible(text)))
	}
	seqs := strings.Split(c.value("done"), ",")
	limit := looked + len(seqs)
	if seqs[0] == "" || limit > oxbow.MaxLimit {
		return said
	}
	out, err := verb.History(c.ctx, c.work, verb.HistoryIn{Limit: &limit})
	if err != nil {
		return said
	}
	var last verb.Change
	var fields []string
	for _, ch := range out.Changes {
		if seq := strconv.FormatUint(ch.Seq, 10); slices.Contains(seqs, seq) {
			last, fields = ch, append(fields, "seq", seq)
		}
	}
	if fields == nil {
		return said
	}
	did := page.DidWhat(last)
	if n := len(fields) / 2; n > 1 {
		did = page.Plural(n, "change") + ". The first: " + did
	}
	return g.Group{said, h.Form(h.Class("done"), h.Method("post"), h.Action(page.Root+"undo"), h.Role("status"),
		page.Hidden(append(fields, "back", c.here())...), h.Span(h.Text(did)), h.Button(h.Text("Undo")))}
}

// here is the path of this page with its query, below [page.Root], to come back to.
func (c *call) here() string {
	q := c.r.URL.Query()
	q.Del("done")
	q.Del("said")
	here := c.r.URL.EscapedPath()[len(page.Root):]
	if s := q.Encode(); s != "" {
		here += "?" + s
	}
	return here
}

// back is the page that a form came from: a path below [page.Root], "" for the first.
func (c *call) back() string { return inside(c.value("back")) }

// inside returns a path that leads to a page of this server, "" for one that does not.
func inside(to string) string {
	if u, err := url.Parse(to); err != nil || u.IsAbs() || u.Host != "" || strings.HasPrefix(to, "/") || strings.ContainsAny(to, "\\\r\n") || strings.Contains(u.Path, "..") {
		return ""
	}
	return to
}

// redirect leads a browser on after a form: to a path below [page.Root], such as
// "entries/deploy". The page there shows the change with a button to undo it.
type redirect struct {
	to     string   // with its query
	change uint64   // 0 for none
	others []uint64 // changes that the form made before it
	said   string   // what else is to be told; "" for nothing
}

func (d redirect) send(c *call, w http.ResponseWriter, _ page.Assets) {
	to, err := url.Parse(page.Root + d.to)
	if err != nil {
		to = &url.URL{Path: page.Root}
	}
	q := to.Query()
	q.Del("done")
	q.Del("said")
	if d.change != 0 {
		seqs := make([]string, 0, 1+len(d.others))
		for _, seq := range append(d.others, d.change) {
			seqs = append(seqs, strconv.FormatUint(seq, 10))
		}
		q.Set("done", strings.Join(seqs, ","))
	}
	if d.said != "" {
		q.Set("said", strings.TrimSpace(d.said))
	}
	to.RawQuery = q.Encode()
	http.Redirect(w, c.r, to.String(), http.StatusSeeOther)
}

// mayWrite reports whether this browser may change the memory.
func (c *call) mayWrite() bool { return !c.view.Rights.ReadOnly }

// name returns the name in the path, as [page.EntryPath] writes it.
func (c *call) name() string { return strings.TrimSpace(c.r.PathValue("name")) }

// value returns what a form or the query gives under a name, without spaces around it.
func (c *call) value(name string) string { return strings.TrimSpace(c.r.FormValue(name)) }

// base returns the version that a form was made for, nil where it names none.
func (c *call) base() *uint64 {
	v, err := strconv.ParseUint(c.value("version"), 10, 64)
	if err != nil || v == 0 {
		return nil
	}
	return &v
}

// number is value as a number, def where there is none.
func (c *call) number(name string, def int) int {
	if n, err := strconv.Atoi(c.value(name)); err == nil {
		return n
	}
	return def
}

// statuses are the HTTP statuses of errors, the first that matches.
var statuses = []struct {
	err    error
	status int
}{
	{oxbow.ErrNotFound, http.StatusNotFound},
	{fs.ErrNotExist, http.StatusNotFound},
	{oxbow.ErrConflict, http.StatusConflict},
	{oxbow.ErrExists, http.StatusConflict},
	{oxbow.ErrInvalid, http.StatusBadRequest},
	{oxbow.ErrQuota, http.StatusTooManyRequests},
	{oxbow.ErrReadOnly, http.StatusForbidden},
	{oxbow.ErrUnsupported, http.StatusNotImplemented},
}

// failed is the page of an error.
func failed(err error) screen {
	status, title := http.StatusInternalServerError, "That did not work"
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			status = s.status
			break
		}
	}
	if status == http.StatusNotFound {
		title = "Not found"
	}
	return screen{title: title, at: "-", status: status, body: []g.Node{
		page.Notice("error", page.Sentence(err.Error()), page.Said(verb.Remedy(err))),
	}}
}

func nothingHere(c *call) (reply, error) {
	return screen{title: "Not found", at: "-", status: http.StatusNotFound, body: []g.Node{page.Notice("error", "There is no page at "+c.r.URL.Path+".", "")}}, nil
}
