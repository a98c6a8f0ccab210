// This file sends the changes of the memory to clients as an event stream.

package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/oxbow-memory/oxbow/internal/base/sse"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

// changeEvent is the data in an event about a change, or in an event with the name "reset". The data of a reset does
// not contain entries.
type changeEvent struct {
	// number of the change; the client has now received all changes up to this number
	Seq     uint64         `json:"seq"`
	Time    string         `json:"time,omitempty"`
	Source  *verb.Source   `json:"source,omitempty"`
	Entries []changedEntry `json:"entries,omitempty"` // names of the changed entries, without their contents
}

type changedEntry struct {
	Name       string `json:"name"`
	ChangeVerb string `json:"verb"`
}

// serveEvents sends an event stream to the client, with one event for each change of the part of the memory that the
// client may see. An event's ID is the number of its change. A client that sends the header Last-Event-ID first
// receives the changes after this number. If these changes are not known any more, the client receives the event
// "reset", and must read everything again. serveEvents returns when the client disconnects.
func (o *memoryViewState) serveEvents(w http.ResponseWriter, r *http.Request, feed *history.ChangeFeed) error {
	if r.Method != http.MethodGet { // The response to a HEAD request would never end.
		return wrongMethodError(w, r, []string{http.MethodGet, http.MethodOptions})
	}
	l, err := feed.Listen(r.Context(), o.Workspace, r.Header.Get(sse.LastEventIDHeader))
	if err != nil {
		return err
	}
	defer l.Close()
	first := true
	sse.ServeEvents(r.Context(), w, l.ChangesReady, func(out *sse.EventStream) error {
		n, err := l.ReadChanges(r.Context())
		if err == nil {
			err = sendChanges(out, n, first)
			first = false
		}
		return err
	})
	return nil
}

// sendChanges sends one event with the name "change" for each change in n. If n says that the client must read
// everything again, it sends only an event "reset". If the stream is new and there is no change to send, it sends an
// event "ready", so that the client knows an ID from which it can resume.
func sendChanges(out *sse.EventStream, n history.UnreadChanges, isFirst bool) error {
	switch {
	case n.MustReadEverything:
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
