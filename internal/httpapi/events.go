// This file streams the changes of the memory.

package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/base/sse"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

// event is the data for a change or a reset. A reset has no entries.
type event struct {
	Seq     uint64         `json:"seq"` // number of the change; the client has received every change up to it
	Time    string         `json:"time,omitempty"`
	Source  *verb.Source   `json:"source,omitempty"`
	Entries []changedEntry `json:"entries,omitempty"` // only the names of the entries
}

type changedEntry struct {
	Name string `json:"name"`
	Verb string `json:"verb"`
}

// serveEvents streams the changes of the view. An event's ID is the number of its change. The
// stream begins with the changes after Last-Event-ID, or with the event "reset" if they are no
// longer known.
func (o *room) serveEvents(w http.ResponseWriter, r *http.Request, feed *history.Feed) error {
	if r.Method != http.MethodGet { // HEAD would never end
		return wrongMethod(w, r, []string{http.MethodGet, http.MethodOptions})
	}
	l, err := feed.Listen(r.Context(), o.Workspace, r.Header.Get(sse.LastID))
	if err != nil {
		return err
	}
	defer l.Close()
	first := true
	sse.Serve(r.Context(), w, l.C, func(out *sse.Stream) error {
		n, err := l.Take(r.Context())
		if err == nil {
			err = sendNews(out, n, first)
			first = false
		}
		return err
	})
	return nil
}

// sendNews sends one event for each change, or a reset. If there is nothing to send on a new
// stream, sendNews sends the event "ready", so that the client gets an ID from which it can resume.
func sendNews(out *sse.Stream, n history.News, first bool) error {
	switch {
	case n.Reset:
		return send(out, "reset", event{Seq: n.Last})
	case first && len(n.Changes) == 0:
		return send(out, "ready", event{Seq: n.Last})
	}
	for _, c := range n.Changes {
		e := event{Seq: c.Seq, Time: c.Time, Source: &c.Source}
		for _, t := range c.Entries {
			e.Entries = append(e.Entries, changedEntry{t.Name, t.Verb})
		}
		if err := send(out, "change", e); err != nil {
			return err
		}
	}
	return nil
}

func send(out *sse.Stream, name string, e event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return out.Event(strconv.FormatUint(e.Seq, 10), name, b)
}
