// This file streams events to the pages that are open in browsers. An event is sent whenever the memory changes. The
// script of a page then reloads the parts of the page that show current data.

package web

import (
	"net/http"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/base/sse"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// eventStream is a reply that sends events until the browser disconnects or the server stops.
type eventStream struct{ listener *history.ChangeListener }

func eventsPage(c *pageRequest) (pageReply, error) {
	l, err := c.feed.Listen(c.ctx, c.workspace, c.r.Header.Get(sse.LastEventIDHeader))
	return eventStream{l}, err
}

func (s eventStream) send(c *pageRequest, w http.ResponseWriter, _ page.Assets) {
	defer s.listener.Close()
	sse.ServeEvents(c.ctx, w, s.listener.ChangesReady, func(out *sse.EventStream) error {
		n, err := s.listener.ReadChanges(c.ctx)
		if err != nil {
			return err
		}
		name := "ready" // This event tells the browser that there was a change, but not of an entry it may see.
		if n.MustReadEverything {
			name = "reset"
		} else if len(n.Changes) > 0 {
			name = "change"
		}
		seq := strconv.FormatUint(n.LastSeq, 10)
		return out.SendEvent(seq, name, []byte(seq))
	})
}
