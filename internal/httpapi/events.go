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

// changeEvent is the data for a change or a reset. A reset has no entries.
type changeEvent struct {
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
func (o *viewState) serveEvents(w http.ResponseWriter, r *http.Request, feed *history.ChangeFeed) error {
	if r.Method != http.MethodGet { // HEAD would never end
		return wrongMethodError(w, r, []string{http.MethodGet, http.MethodOptions})
	}
	l, err := feed.Listen(r.Context(), o.Workspace, r.Header.Get(sse.LastEventIDHeader))
	if err != nil {
		return err
	}
	defer l.Close()
	first := true
	sse.ServeEvents(r.Context(), w, l.Ready, func(out *sse.EventStream) error {
		n, err := l.TakeChanges(r.Context())
		if err == nil {
			err = sendChanges(out, n, first)
			first = false
		}
		return err
	})
	return nil
}

// sendChanges sends one event for each change, or a reset. If there is nothing to send on a new
// stream, sendChanges sends the event "ready", so that the client gets an ID from which it can resume.
func sendChanges(out *sse.EventStream, n history.TakenChanges, isFirst bool) error {
	switch {
	case n.IsReset:
		return sendEvent(out, "reset", changeEvent{Seq: n.LastSeq})
	case isFirst && len(n.Changes) == 0:
		return sendEvent(out, "ready", changeEvent{Seq: n.LastSeq})
	}
	for _, c := range n.Changes {
		e := changeEvent{Seq: c.Seq, Time: c.Time, Source: &c.Source}
		for _, t := range c.Entries {
			e.Entries = append(e.Entries, changedEntry{t.Name, t.Verb})
		}
		if err := sendEvent(out, "change", e); err != nil {
			return err
		}
	}
	return nil
}

func sendEvent(out *sse.EventStream, name string, e changeEvent) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return out.SendEvent(strconv.FormatUint(e.Seq, 10), name, b)
}
