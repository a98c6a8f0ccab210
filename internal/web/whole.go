// Pages of all of a memory, and of what is around it: for browsers that see all of it.

package web

import (
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// whole is a handler for browsers that see all of the memory. Of the others it takes
// what is not within their bounds: files, profiles, the machine.
func whole(handle handler) handler {
	return func(c *call) (reply, error) {
		if c.view.Partial() {
			return forbidden("This page is of all of the memory, its files and its profiles, and this browser sees a part of it.", "The link that oxbow ui prints, without --project and --kind, opens a page that sees all."), nil
		}
		return handle(c)
	}
}

// personal is a handler that changes what is around a memory: for persons who may write.
func personal(handle handler) handler {
	return whole(func(c *call) (reply, error) {
		if c.actor != oxbow.Person || c.view.Rights.ReadOnly {
			return forbidden("Only a person who may write does this.", "Run oxbow ui in a terminal: the link that it prints is yours alone."), nil
		}
		return handle(c)
	})
}

// forbidden is the page of what this browser may not see or do.
func forbidden(why, remedy string) screen {
	return screen{title: "Not for this browser", at: "-", status: http.StatusForbidden, body: []g.Node{page.Notice("error", why, remedy)}}
}

// troubled shows an error inside a page, so that its form stays.
func troubled(err error) g.Node {
	f := failed(err)
	return g.Group(f.body)
}
