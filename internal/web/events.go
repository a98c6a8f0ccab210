// Events: sent to open pages when the memory changed; the script of a page reads its
// live parts again.

package web

import (
	"net/http"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/base/sse"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// stream is an answer that goes on until the browser leaves or the server ends.
type stream struct{ news *verb.Listener }

func events(c *call) (reply, error) {
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
		name := "ready" // nothing that this browser sees
		if n.Reset {
			name = "reset"
		} else if len(n.Changes) > 0 {
			name = "change"
		}
		seq := strconv.FormatUint(n.Last, 10)
		return out.Event(seq, name, []byte(seq))
	})
}
