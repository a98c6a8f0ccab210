// This file builds pages with the navigation around them, and error pages.

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
	navPath string // path of the present item in the navigation
	lead    g.Node // line below the title that says what the page shows (may be nil)
	body    []g.Node
	status  int  // HTTP status (0 means 200)
	isLive  bool // elements with the attribute data-live are reloaded when the memory changes
}

// mainPlaces are the pages that are used every day. The navigation always shows them.
var mainPlaces = []page.NavigationItem{
	{Path: "", Name: "Today"},
	{Path: "find", Name: "Find"},
	{Path: "inbox", Name: "Inbox"},
	{Path: "sessions", Name: "Sessions"},
	{Path: "log", Name: "Log"},
}

// morePlaces are the other pages. The navigation shows them below "More".
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

// statusByError contains the HTTP status for each kind of error. The first element that matches the error is used.
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
