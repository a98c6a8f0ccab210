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
type handler func(c *pageRequest) (reply, error)

// pageRequest is one request, with the memory as this browser may see it.
type pageRequest struct {
	ctx               context.Context // stamped with the session's source
	r                 *http.Request
	now               time.Time // in the time zone in which dates are shown
	view              *rights.MemoryView
	workspace         *verb.Workspace
	actor             oxbow.Actor
	feed              *history.ChangeFeed
	version           string // oxbow's version
	isSample          bool   // the memory is a sample that is deleted at the end
	forbidsFileWrites bool   // pages may not write files
	hasSeveralUsers   bool   // several people may sign in

	caches  *caches  // shared by all calls of the server
	uploads *uploads // shared by all calls of the server
}

// reply is the result of a handler, such as a [screen] or a [redirect].
type reply interface {
	send(c *pageRequest, w http.ResponseWriter, a page.Assets)
}

// accessSummary names the part of the memory that this browser sees, and oxbow's version.
func (c *pageRequest) accessSummary() string {
	s := "The whole memory"
	if c.view.Rights.ReadOnly || c.view.IsPartial() {
		s = "This browser " + c.view.Rights.String()
	}
	if c.isSample {
		s += ", a sample that is deleted when you stop the command"
	}
	return s + ". oxbow " + c.version
}

// maxChangesSearched is the number of recent changes in which [call.changeNotice] looks for a form's change.
const maxChangesSearched = 50

// changeNotice shows the changes that a form has made, with a button to undo them, and the form's message. It returns
// nil for requests other than GET, and if the query has neither.
func (c *pageRequest) changeNotice() g.Node {
	if c.r.Method != http.MethodGet {
		return nil
	}
	var said g.Node
	if text := c.formValue("said"); text != "" {
		said = h.Div(
			h.Class("done"),
			h.Role("status"),
			h.P(h.Text(page.VisibleText(text))),
			g.If(
				c.formValue("undo") != "" && c.canDecideAsPerson(),
				revertLink(c.formValue("undo"), "Undo the import…"),
			),
		)
	}
	seqs := strings.Split(c.formValue("done"), ",")
	limit := maxChangesSearched + len(seqs)
	if seqs[0] == "" || limit > oxbow.MaxLimit {
		return said
	}
	out, err := verb.History(c.ctx, c.workspace, verb.HistoryIn{Limit: &limit})
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
	did := page.DescribeChange(last)
	if n := len(fields) / 2; n > 1 {
		did = page.Plural(n, "change") + ". The first: " + did
	}
	return g.Group{said, h.Form(h.Class("done"), h.Method("post"), h.Action(page.Root+"undo"), h.Role("status"),
		page.Hidden(append(fields, "back", c.currentPath())...), h.Span(h.Text(did)), h.Button(h.Text("Undo")))}
}

// currentPath returns the path and query of this page, relative to [page.Root] and without the parameters of a notice,
// so that a form can return to it.
func (c *pageRequest) currentPath() string {
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
func (c *pageRequest) returnPath() string { return localPath(c.formValue("back")) }

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
	path           string   // includes the query
	changeNumber   uint64   // number of the change that the form made (0 if it made no change)
	earlierChanges []uint64 // earlier changes of the same form
	message        string   // further text for the person (may be empty)

	importSession string // run of an import, which the person can undo (may be empty)
}

func (d redirect) send(c *pageRequest, w http.ResponseWriter, _ page.Assets) {
	to, err := url.Parse(page.Root + d.path)
	if err != nil {
		to = &url.URL{Path: page.Root}
	}
	q := to.Query()
	q.Del("done")
	q.Del("said")
	q.Del("undo")
	if d.changeNumber != 0 {
		seqs := make([]string, 0, 1+len(d.earlierChanges))
		for _, seq := range append(d.earlierChanges, d.changeNumber) {
			seqs = append(seqs, strconv.FormatUint(seq, 10))
		}
		q.Set("done", strings.Join(seqs, ","))
	}
	if d.message != "" {
		q.Set("said", strings.TrimSpace(d.message))
	}
	if d.importSession != "" {
		q.Set("undo", d.importSession)
	}
	to.RawQuery = q.Encode()
	http.Redirect(w, c.r, to.String(), http.StatusSeeOther)
}

// canDecideAsPerson reports whether this browser may make the decisions that are reserved for a
// person who sees the whole memory.
func (c *pageRequest) canDecideAsPerson() bool {
	return c.actor == oxbow.Person && c.mayWrite() && !c.view.IsPartial()
}

// revertLink links to the page that reverts a session.
func revertLink(session, text string) g.Node {
	return h.A(h.Class("button"), h.Href(page.Root+"log/revert?"+
		url.Values{"session": {session}}.Encode()), h.Text(text))
}

// viewer is who looks at the page.
func (c *pageRequest) viewer() page.Viewer {
	return page.Viewer{Now: c.now, Actor: c.actor, HasSeveralUsers: c.hasSeveralUsers}
}

// mayWrite reports whether this browser may change the memory.
func (c *pageRequest) mayWrite() bool { return !c.view.Rights.ReadOnly }

// pathName returns the name in the path, as [page.EntryPath] writes it.
func (c *pageRequest) pathName() string { return strings.TrimSpace(c.r.PathValue("name")) }

// formValue returns a field of the form or query, without spaces around it.
func (c *pageRequest) formValue(name string) string { return strings.TrimSpace(c.r.FormValue(name)) }

// base returns the version that the form was made for, or nil if the form has no valid
// version.
func (c *pageRequest) base() *uint64 {
	v, err := strconv.ParseUint(c.formValue("version"), 10, 64)
	if err != nil || v == 0 {
		return nil
	}
	return &v
}

// formNumber returns a field as a number, or def if the field is not a number.
func (c *pageRequest) formNumber(name string, def int) int {
	if n, err := strconv.Atoi(c.formValue(name)); err == nil {
		return n
	}
	return def
}
