// This file serves the exact text of an entry.

package web

import (
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// plainTextReply is a reply that a browser shows as plain text.
type plainTextReply string

func (p plainTextReply) send(_ *pageRequest, w http.ResponseWriter, _ page.Assets) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(p)) // ignore the error, because the browser has disconnected
}

func rawEntryText(c *pageRequest) (pageReply, error) {
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: c.entryNameFromPath(), ContentOnly: true})
	if err != nil {
		return nil, err
	}
	return plainTextReply(*e.Content), nil
}
