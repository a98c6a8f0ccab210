// This file streams an event to open pages whenever the memory changes. The script of the
// page then reloads its live parts.

package web

import (
	"net/http"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/base/sse"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// stream is a reply that lasts until the browser disconnects or the server stops.
type stream struct{ news *history.Listener }

func eventsPage(c *call) (reply, error) {
	l, err := c.feed.Listen(c.ctx, c.work, c.r.Header.Get(sse.LastID))
	return stream{l}, err
}

func (s stream) send(c *call, w http.ResponseWriter, _ page.Assets) {
	defer s.news.Close()
	sse.Serve(c.ctx, w, s.news.C, func(out *sse.Stream) error {
		n, err := s.news.Take(c.ctx)
		if err != nil {
			return err
		}
		name := "ready" // sent if the change touches nothing that this browser may see
		if n.Reset {
			name = "reset"
		} else if len(n.Changes) > 0 {
			name = "change"
		}
		seq := strconv.FormatUint(n.Last, 10)
		return out.Event(seq, name, []byte(seq))
	})
}
