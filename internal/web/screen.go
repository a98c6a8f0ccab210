// This file builds pages with the navigation around them, and the pages for errors.

package web

import (
	"errors"
	"io/fs"
	"net/http"
	"slices"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// screen is a page with the navigation around it.
type screen struct {
	title   string
	navPath string // path of the navigation item that is marked as current
	lead    g.Node // one line below the title that says what the page shows (optional)
	body    []g.Node
	status  int  // 200 by default
	isLive  bool // elements with the attribute data-live are reloaded when the memory changes
}

// mainPlaces are the pages of daily use, which the navigation always shows.
var mainPlaces = []page.NavigationItem{
	{Path: "", Name: "Today"},
	{Path: "find", Name: "Find"},
	{Path: "inbox", Name: "Inbox"},
	{Path: "sessions", Name: "Sessions"},
	{Path: "log", Name: "Log"},
}

// morePlaces are the pages for the field More of a page's frame.
var morePlaces = []page.NavigationItem{
	{Path: "context", Name: "Context"},
	{Path: "profiles", Name: "Profiles"},
	{Path: "handoffs", Name: "Handoffs"},
	{Path: "annotations", Name: "Annotations"},
	{Path: "map", Name: "Map"},
	{Path: "numbers", Name: "Numbers"},
	{Path: "transfer", Name: "Import, export"},
	{Path: "settings", Name: "Settings"},
}

func (s screen) send(c *pageRequest, w http.ResponseWriter, a page.Assets) {
	shownPlaces := slices.Clone(mainPlaces)
	shownPlaces[slices.IndexFunc(mainPlaces,
		func(p page.NavigationItem) bool { return p.Path == "inbox" })].Count = c.countPendingDecisions()
	f := page.Frame{Title: s.title, Status: s.status, IsLive: s.isLive, CurrentPath: s.navPath,
		NavigationItems: shownPlaces, MoreItems: morePlaces,
		ChangeNotice: c.changeNotice(), Lead: s.lead, Body: s.body, FooterText: c.accessSummary()}
	if c.mayWrite() {
		f.NewEntryPath = "new"
	}
	if c.r.URL.Path == page.Root+"find" {
		f.SearchText, f.LiveSelector = c.formValue("q"), "#results"
	}
	f.Send(w, a)
}

// statusByError maps errors to HTTP statuses. The first match counts.
var statusByError = []struct {
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

// errorScreen returns the page for an error.
func errorScreen(err error) screen {
	status, title := http.StatusInternalServerError, "That did not work"
	for _, s := range statusByError {
		if errors.Is(err, s.err) {
			status = s.status
			break
		}
	}
	if status == http.StatusNotFound {
		title = "Not found"
	}
	return screen{title: title, navPath: "-", status: status, body: []g.Node{
		page.Notice("error", page.MakeSentence(err.Error()), page.NoteSentence(verb.ErrorRemedy(err))),
	}}
}

func notFoundPage(c *pageRequest) (reply, error) {
	return screen{
		title:   "Not found",
		navPath: "-",
		status:  http.StatusNotFound,
		body:    []g.Node{page.Notice("error", "There is no page at "+c.r.URL.Path+".", "")},
	}, nil
}
