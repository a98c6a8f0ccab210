// This file restricts pages about files, profiles and the machine: only browsers that have access to the whole memory
// may open them.

package web

import (
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// requireWholeMemoryAccess returns a handler that calls handle only if the browser sees the whole memory. For any other
// browser, it returns an error page. It is used for pages about files, profiles and the machine, because these concern
// the whole memory.
func requireWholeMemoryAccess(handle pageHandler) pageHandler {
	return func(c *pageRequest) (pageReply, error) {
		if c.view.IsPartial() {
			return forbiddenPage(
				"This page needs access to the whole memory, and this browser has access to a part.",
				"Start oxbow ui without --project and --kind, and open the link that it prints.",
			), nil
		}
		return handle(c)
	}
}

// requirePersonWithFullAccess restricts a handler to a person who may write and who sees the whole memory.
func requirePersonWithFullAccess(handle pageHandler) pageHandler {
	return requireWholeMemoryAccess(func(c *pageRequest) (pageReply, error) {
		if c.actor != oxbow.Person || c.view.Rights.ReadOnly {
			return forbiddenPage(
				"This needs a person with the permission to write.",
				"Run oxbow ui in a terminal, and open the link that it prints. Only you get this link.",
			), nil
		}
		return handle(c)
	})
}

// forbiddenPage returns the page for a request that this browser must not make.
func forbiddenPage(why, remedy string) pageWithNavigation {
	return pageWithNavigation{
		title:     "Not for this browser",
		navPath:   "-",
		status:    http.StatusForbidden,
		bodyNodes: []g.Node{page.Notice("error", why, remedy)},
	}
}

// renderErrorInPage shows an error within a page, so that the form on the page is kept.
func renderErrorInPage(err error) g.Node {
	f := errorPage(err)
	return g.Group(f.bodyNodes)
}
