// Events: sent to open pages when the memory changed; the script of a page reads its
// live parts again.

package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/sse"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
)

const (
	takeWait  = 10 * time.Second // for a browser to take an event
	pingEvery = 15 * time.Second
)

// stream is an answer that goes on until the browser leaves or the server ends.
type stream struct{ news *tool.Listener }

func events(c *call) (reply, error) {
	var after *uint64
	if id := c.r.Header.Get("Last-Event-ID"); id != "" {
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return nil, &oxbow.InvalidError{Field: "Last-Event-ID", Reason: "is not the number of a change"}
		}
		after = &n
	}
	l, err := c.feed.Listen(c.ctx, c.work, after)
	return stream{l}, err
}

func (s stream) send(c *call, w http.ResponseWriter, _ page.Assets) {
	defer s.news.Close()
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // that of the request; recorders of tests have none
	out, err := sse.Start(w, takeWait)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for err == nil { // an error is of a browser that is gone
		select {
		case <-c.ctx.Done():
			return
		case <-ping.C:
			err = out.Ping()
		case <-s.news.C:
			var n tool.News
			if n, err = s.news.Take(c.ctx); err != nil {
				return
			}
			name := "ready" // nothing that this browser sees
			if n.Reset {
				name = "reset"
			} else if len(n.Changes) > 0 {
				name = "change"
			}
			seq := strconv.FormatUint(n.Last, 10)
			err = out.Event(seq, name, []byte(seq))
		}
	}
}
