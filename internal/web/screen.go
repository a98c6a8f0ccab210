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

// pageWithNavigation is a page with the navigation around it.
type pageWithNavigation struct {
	title               string
	navPath             string // path of the present item in the navigation
	descriptionLine     g.Node // line below the title that describes the content of the page (may be nil)
	bodyNodes           []g.Node
	status              int  // HTTP status (0 means 200)
	reloadsLiveElements bool // elements with the attribute data-live are reloaded when the memory changes
}

// mainNavigation are the pages that are used every day. The navigation always shows them.
var mainNavigation = []page.NavigationItem{
	{Path: "", Name: "Today"},
	{Path: "find", Name: "Find"},
	{Path: "inbox", Name: "Inbox"},
	{Path: "sessions", Name: "Sessions"},
	{Path: "log", Name: "Log"},
}

// furtherNavigationItems lists the remaining pages. The navigation shows them below "More".
var furtherNavigationItems = []page.NavigationItem{
	{Path: "context", Name: "Context"},
	{Path: "profiles", Name: "Profiles"},
	{Path: "handoffs", Name: "Handoffs"},
	{Path: "annotations", Name: "Annotations"},
	{Path: "map", Name: "Map"},
	{Path: "numbers", Name: "Numbers"},
	{Path: "transfer", Name: "Import, export"},
	{Path: "settings", Name: "Settings"},
}

func (s pageWithNavigation) send(c *pageRequest, w http.ResponseWriter, a page.Assets) {
	shownPlaces := slices.Clone(mainNavigation)
	shownPlaces[slices.IndexFunc(mainNavigation,
		func(p page.NavigationItem) bool { return p.Path == "inbox" })].WaitingCount = c.countPendingDecisions()
	f := page.PageFrame{
		Title:               s.title,
		Status:              s.status,
		ReloadsLiveElements: s.reloadsLiveElements,
		CurrentPath:         s.navPath,
		NavigationItems:     shownPlaces,
		MoreItems:           furtherNavigationItems,
		ChangeNotice:        c.changeNotice(),
		DescriptionLine:     s.descriptionLine,
		Body:                s.bodyNodes,
		FooterText:          c.accessSummary(),
	}
	if c.mayWrite() {
		f.NewEntryPath = "new"
	}
	if c.r.URL.Path == page.RootPath+"find" {
		f.SearchText, f.TypingUpdateSelector = c.formValue("q"), "#results"
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

// errorPage returns the page for an error.
func errorPage(err error) pageWithNavigation {
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
	return pageWithNavigation{title: title, navPath: "-", status: status, bodyNodes: []g.Node{
		page.Notice("error", page.MakeSentence(err.Error()), page.NoteSentence(verb.ErrorRemedy(err))),
	}}
}

func notFoundPage(c *pageRequest) (pageReply, error) {
	return pageWithNavigation{
		title:     "Not found",
		navPath:   "-",
		status:    http.StatusNotFound,
		bodyNodes: []g.Node{page.Notice("error", "There is no page at "+c.r.URL.Path+".", "")},
	}, nil
}
