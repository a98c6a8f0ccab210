// This file serves the exact text of an entry.

package web

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// plain is a reply that browsers show as plain text.
type plain string

func (p plain) send(_ *call, w http.ResponseWriter, _ page.Assets) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(p)) // ignore the error: the browser has disconnected
}

func raw(c *call) (reply, error) {
	e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: c.name(), Bare: true})
	if err != nil {
		return nil, err
	}
	return plain(*e.Content), nil
}
