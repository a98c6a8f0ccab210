// This file handles a request of a browser that is signed in. It reads form values, checks the rights of the browser,
// and implements the redirect that follows a form.

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

// pageHandler handles a request. An error becomes an error page that says how to solve the problem.
type pageHandler func(c *pageRequest) (pageReply, error)

// pageRequest is a request, together with the part of the memory that the browser may see.
type pageRequest struct {
	ctx               context.Context // context of the request, which also contains the author to record with changes
	r                 *http.Request
	now               time.Time // time of the request, in the time zone in which dates are shown
	view              *rights.MemoryView
	workspace         *verb.Workspace
	actor             oxbow.Actor
	feed              *history.ChangeFeed
	oxbowVersion      string // version of oxbow
	isSampleMemory    bool   // the memory is a sample that will be deleted when the server ends
	forbidsFileWrites bool   // The server was started with the option that no page writes files on its machine.
	hasSeveralUsers   bool   // several people may sign in

	caches  *sharedCaches  // caches that all requests to the server share
	uploads *uploadedFiles // files that people have uploaded, which all requests to the server share
}

// pageReply is the result of a handler, such as a [pageWithNavigation] or a [redirectReply].
type pageReply interface {
	send(c *pageRequest, w http.ResponseWriter, a page.Assets)
}

// accessSummary returns a text that names the part of the memory that this browser may see, and oxbow's version.
func (c *pageRequest) accessSummary() string {
	s := "The whole memory"
	if c.view.Rights.ReadOnly || c.view.IsPartial() {
		s = "This browser " + c.view.Rights.String()
	}
	if c.isSampleMemory {
		s += ", a sample that is deleted when you stop the command"
	}
	return s + ". oxbow " + c.oxbowVersion
}

// maxChangesSearched is the number of most recent changes in which [pageRequest.changeNotice] searches for the change
// that a form made.
const maxChangesSearched = 50

// changeNotice returns the notice that a page shows after a form was sent. The notice contains the form's message, and
// the changes that the form made, with a button that undoes them. The numbers of the changes and the message are in the
// URL's query. If the query contains neither, or if the request is not a GET, changeNotice returns nil.
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
	out, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Limit: &limit})
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
		did = page.CountWithNoun(n, "change") + ". The first: " + did
	}
	return g.Group{said, h.Form(h.Class("done"), h.Method("post"), h.Action(page.RootPath+"undo"), h.Role("status"),
		page.HiddenFields(append(fields, "back", c.currentPath())...), h.Span(h.Text(did)), h.Button(h.Text("Undo")))}
}

// currentPath returns the path of this page relative to [page.RootPath], with the query, so that a form can return to
// this page. The result lacks the query parameters for changeNotice, so that the notice is not shown again.
func (c *pageRequest) currentPath() string {
	q := c.r.URL.Query()
	q.Del("done")
	q.Del("said")
	q.Del("undo")
	here := c.r.URL.EscapedPath()[len(page.RootPath):]
	if s := q.Encode(); s != "" {
		here += "?" + s
	}
	return here
}

// returnPath returns the path of the page from which a form was sent, relative to [page.RootPath]. If the form contains
// no path of this server, the result is "", which is the path of the start page.
func (c *pageRequest) returnPath() string { return pathOnThisServer(c.formValue("back")) }

// pathOnThisServer returns the path if it leads to a page of this server, otherwise "".
func pathOnThisServer(targetPath string) string {
	u, err := url.Parse(targetPath)
	isRelative := err == nil && !u.IsAbs() && u.Host == "" && !strings.HasPrefix(targetPath, "/")
	if !isRelative || strings.Contains(u.Path, "..") {
		return ""
	}
	if strings.ContainsAny(targetPath, "\\\r\n") {
		return ""
	}
	return targetPath
}

// redirectReply sends a browser to another page after a form. The page is a path below [page.RootPath], such as
// "entries/deploy". The page shows the form's change, with a button to undo it.
type redirectReply struct {
	path           string   // path including the query
	changeNumber   uint64   // number of the change that the form made (0 if it made no change)
	earlierChanges []uint64 // If the form made several changes, the numbers of the changes before changeNumber.
	message        string   // text that the page shows above the change (may be empty)

	importSessionID string // session ID of an import, by which the person can undo the whole import (may be empty)
}

func (d redirectReply) send(c *pageRequest, w http.ResponseWriter, _ page.Assets) {
	to, err := url.Parse(page.RootPath + d.path)
	if err != nil {
		to = &url.URL{Path: page.RootPath}
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
	if d.importSessionID != "" {
		q.Set("undo", d.importSessionID)
	}
	to.RawQuery = q.Encode()
	http.Redirect(w, c.r, to.String(), http.StatusSeeOther)
}

// canDecideAsPerson reports whether this browser may make the decisions that are reserved for a
// person who sees the whole memory.
func (c *pageRequest) canDecideAsPerson() bool {
	return c.actor == oxbow.Person && c.mayWrite() && !c.view.IsPartial()
}

// revertLink returns a link to the page that reverts a session.
func revertLink(session, text string) g.Node {
	return h.A(h.Class("button"), h.Href(page.RootPath+"log/revert?"+
		url.Values{"session": {session}}.Encode()), h.Text(text))
}

// pageViewer describes the person or program that looks at the page.
func (c *pageRequest) pageViewer() page.Viewer {
	return page.Viewer{Now: c.now, Actor: c.actor, HasSeveralUsers: c.hasSeveralUsers}
}

// mayWrite reports whether this browser may change the memory.
func (c *pageRequest) mayWrite() bool { return !c.view.Rights.ReadOnly }

// entryNameFromPath returns the entry name in the path of the request (see [page.EntryPath]).
func (c *pageRequest) entryNameFromPath() string { return strings.TrimSpace(c.r.PathValue("name")) }

// formValue returns the value of a field in the form or query, without surrounding spaces.
func (c *pageRequest) formValue(name string) string { return strings.TrimSpace(c.r.FormValue(name)) }

// formEntryVersion returns the version of the entry for which the form was made. It returns nil if the form contains no
// valid version.
func (c *pageRequest) formEntryVersion() *uint64 {
	v, err := strconv.ParseUint(c.formValue("version"), 10, 64)
	if err != nil || v == 0 {
		return nil
	}
	return &v
}

// formNumber returns the value of a field as a number, or def if it is not a number.
func (c *pageRequest) formNumber(name string, def int) int {
	if n, err := strconv.Atoi(c.formValue(name)); err == nil {
		return n
	}
	return def
}
