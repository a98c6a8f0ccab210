// This file tests the stream of events.

package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// stream is the connection of a client that receives events.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  func()
}

// received is an event that a client received.
type received struct{ id, name, data string }

func (h *home) listen(token, last string) *stream {
	h.t.Helper()
	t := h.t.(*testing.T)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, "GET", h.server.URL+basePath+"/events", nil)
	h.must(err)
	r.Header.Set("Authorization", "Bearer "+token)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := h.server.Client().Do(r)
	h.must(err)
	stop := func() { cancel(); res.Body.Close() }
	t.Cleanup(stop)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("the stream begins with %d %v", res.StatusCode, res.Header)
	}
	return &stream{t, bufio.NewScanner(res.Body), stop}
}

// next waits for the next event and returns it.
func (s *stream) next() (e received) {
	s.t.Helper()
	for s.lines.Scan() {
		key, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch key {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.data != "" {
				return e
			}
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return e
}

func TestEvents(t *testing.T) {
	h := newHome(t)
	all, part := h.listen("all", ""), h.listen("a", "")
	ready := all.next()
	if ready.name != "ready" || ready.id != "4" || part.next().name != "ready" {
		t.Errorf("the stream begins with %+v", ready)
	}
	// Make a change through this server, and then a change in another process.
	h.want(h.send("all", "PUT", "/entries/x", `{"content":"of `+markB+`","project":"b"}`), 201)
	other, err := oxbow.Open(h.path, nil)
	h.must(err)
	h.must(other.Apply(t.Context(), oxbow.Add{Name: "y", Content: "of " +
		markA, Labels: []oxbow.Label{{Key: oxbow.LabelProject, Value: "a"}}}))
	h.must(other.Close())
	one, two := all.next(), all.next()
	if one.name != "change" || one.id != "5" || !strings.Contains(one.data, `"entries":[{"name":"x","verb":"add"}]`) ||
		two.id != "6" || !strings.Contains(two.data, `"name":"y"`) {
		t.Errorf("the events are %+v and %+v", one, two)
	}
	if got := part.next(); got.id != "6" || strings.Contains(got.data, markB) || strings.Contains(got.data, markA) {
		t.Errorf("a part hears of %+v", got)
	}
	var data changeEvent
	h.must(json.Unmarshal([]byte(one.data), &data))
	if data.Source == nil || data.Source.Door != "http" || data.Seq != 5 {
		t.Errorf("the event says %+v", data)
	}
	// A client that reconnects receives the missed changes in order, or a reset.
	back := h.listen("all", ready.id)
	if got := back.next(); got != one {
		t.Errorf("coming back it hears of %+v, want %+v", got, one)
	}
	if got := back.next(); got != two {
		t.Errorf("coming back it hears of %+v, want %+v", got, two)
	}
	if got := h.listen("all", "99").next(); got.name != "reset" || got.id != "6" {
		t.Errorf("after a change that there is not comes %+v, want reset", got)
	}
	h.want(h.send("all", "GET", "/events", "", "Last-Event-ID", "x"), 400)
	h.want(h.send("all", "POST", "/events", ""), 405)
}
