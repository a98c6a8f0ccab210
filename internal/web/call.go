// This file handles one request of a signed-in browser: the form values, the browser's rights, and
// the redirect that answers a form.

package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// handler answers one request. An error becomes an error page that includes the remedy.
type handler func(c *call) (reply, error)

// call is one request, with the memory as this browser may see it.
type call struct {
	ctx     context.Context // stamped with the session's source
	r       *http.Request
	now     time.Time // in the time zone in which dates are shown
	view    *rights.View
	work    *verb.Workspace
	actor   oxbow.Actor
	feed    *history.Feed
	version string // oxbow's version
	sample  bool   // the memory is a sample that is deleted at the end
	noFiles bool   // pages may not write files
	shared  bool   // several people may sign in

	caches  *caches  // shared by all calls of the server
	uploads *uploads // shared by all calls of the server
}

// reply is the result of a handler, such as a [screen] or a [redirect].
type reply interface {
	send(c *call, w http.ResponseWriter, a page.Assets)
}

// accessSummary names the part of the memory that this browser sees, and oxbow's version.
func (c *call) accessSummary() string {
	s := "The whole memory"
	if c.view.Rights.ReadOnly || c.view.Partial() {
		s = "This browser " + c.view.Rights.String()
	}
	if c.sample {
		s += ", a sample that is deleted when you stop the command"
	}
	return s + ". oxbow " + c.version
}

// maxChangesSearched is the number of recent changes in which [call.changeNotice] looks for a form's change.
const maxChangesSearched = 50

// changeNotice shows the change that a form has made, with a button to undo it. It returns
// nil for requests other than GET, and if the query names no change.
func (c *call) changeNotice() g.Node {
	if c.r.Method != http.MethodGet {
		return nil
	}
	var said g.Node
	if text := c.value("said"); text != "" {
		said = h.Div(h.Class("done"), h.Role("status"), h.P(h.Text(page.Visible(text))),
			g.If(c.value("undo") != "" && c.mayDecide(), takeBackLink(c.value("undo"), "Undo the import…")))
	}
	seqs := strings.Split(c.value("done"), ",")
	limit := maxChangesSearched + len(seqs)
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
		page.Hidden(append(fields, "back", c.currentPath())...), h.Span(h.Text(did)), h.Button(h.Text("Undo")))}
}

// currentPath returns the path and query of this page, relative to [page.Root], so that a
// form can return to it.
func (c *call) currentPath() string {
	q := c.r.URL.Query()
	q.Del("done")
	q.Del("said")
	q.Del("undo")
	here := c.r.URL.EscapedPath()[len(page.Root):]
	if s := q.Encode(); s != "" {
		here += "?" + s
	}
	return here
}

// returnPath returns the page that a form was sent from, relative to [page.Root]. It is "",
// the start page, if the form names no page of this server.
func (c *call) returnPath() string { return localPath(c.value("back")) }

// localPath returns to if it leads to a page of this server, otherwise "".
func localPath(to string) string {
	u, err := url.Parse(to)
	isRelative := err == nil && !u.IsAbs() && u.Host == "" && !strings.HasPrefix(to, "/")
	if !isRelative || strings.Contains(u.Path, "..") {
		return ""
	}
	if strings.ContainsAny(to, "\\\r\n") {
		return ""
	}
	return to
}

// redirect leads a browser on after a form, to a path below [page.Root] such as
// "entries/deploy". That page shows the change with a button to undo it.
type redirect struct {
	to     string   // includes the query
	change uint64   // number of the change that the form made (0 if it made no change)
	others []uint64 // earlier changes of the same form
	said   string   // further text for the person (may be empty)

	session string // run of an import, which the person can undo (may be empty)
}

func (d redirect) send(c *call, w http.ResponseWriter, _ page.Assets) {
	to, err := url.Parse(page.Root + d.to)
	if err != nil {
		to = &url.URL{Path: page.Root}
	}
	q := to.Query()
	q.Del("done")
	q.Del("said")
	q.Del("undo")
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
	if d.session != "" {
		q.Set("undo", d.session)
	}
	to.RawQuery = q.Encode()
	http.Redirect(w, c.r, to.String(), http.StatusSeeOther)
}

// mayDecide reports whether this browser may make the decisions that are reserved for a
// person who sees the whole memory.
func (c *call) mayDecide() bool {
	return c.actor == oxbow.Person && c.mayWrite() && !c.view.Partial()
}

// takeBackLink links to the page that reverts a session.
func takeBackLink(session, text string) g.Node {
	return h.A(h.Class("button"), h.Href(page.Root+"log/revert?"+
		url.Values{"session": {session}}.Encode()), h.Text(text))
}

// viewer is who looks at the page.
func (c *call) viewer() page.Viewer { return page.Viewer{Now: c.now, Actor: c.actor, Shared: c.shared} }

// mayWrite reports whether this browser may change the memory.
func (c *call) mayWrite() bool { return !c.view.Rights.ReadOnly }

// name returns the name in the path, as [page.EntryPath] writes it.
func (c *call) name() string { return strings.TrimSpace(c.r.PathValue("name")) }

// value returns a field of the form or query, without spaces around it.
func (c *call) value(name string) string { return strings.TrimSpace(c.r.FormValue(name)) }

// base returns the version that the form was made for, or nil if the form has no valid
// version.
func (c *call) base() *uint64 {
	v, err := strconv.ParseUint(c.value("version"), 10, 64)
	if err != nil || v == 0 {
		return nil
	}
	return &v
}

// number returns a field as a number, or def if the field is not a number.
func (c *call) number(name string, def int) int {
	if n, err := strconv.Atoi(c.value(name)); err == nil {
		return n
	}
	return def
}
