// Server-sent events: the stream that a browser's EventSource reads.

// Package sse writes server-sent events, as the HTML standard defines them.
package sse

import (
	"bytes"
	"net/http"
	"strings"
	"time"
)

// Stream is one answer that goes on. It is for one goroutine.
type Stream struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	wait time.Duration // for the client to take an event
}

// Start answers with a stream. A client that does not take an event within wait is
// cut off: the next write fails.
func Start(w http.ResponseWriter, wait time.Duration) (*Stream, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &Stream{w, http.NewResponseController(w), wait}
	w.WriteHeader(http.StatusOK)
	return s, s.send([]byte("retry: 1000\n\n"))
}

// Event sends an event of that name. The client repeats the id of the last one when it
// comes back, in the header Last-Event-ID; "" leaves it as it is. Line ends in the data
// arrive as \n.
func (s *Stream) Event(id, name string, data []byte) error {
	var b bytes.Buffer
	field := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + oneLine.Replace(value) + "\n")
		}
	}
	field("id", id)
	field("event", name)
	for line := range bytes.SplitSeq(lineEnds(data), []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return s.send(b.Bytes())
}

// Ping sends a comment, so that proxies and clients see that the stream is alive.
func (s *Stream) Ping() error { return s.send([]byte(":\n\n")) }

var oneLine = strings.NewReplacer("\r", "", "\n", "", "\x00", "")

func lineEnds(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (s *Stream) send(b []byte) error {
	_ = s.ctl.SetWriteDeadline(time.Now().Add(s.wait)) // recorders of tests have none
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	return s.ctl.Flush()
}
