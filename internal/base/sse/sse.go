// Server-sent events: the stream that a browser's EventSource reads.

// Package sse writes server-sent events, as the HTML standard defines them.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	takeWait  = 10 * time.Second // for a client to take an event
	pingEvery = 15 * time.Second
)

// LastID is the header in which a client that comes back sends the id of the last event
// that it received.
const LastID = "Last-Event-ID"

// Stream is one answer that goes on. It is for one goroutine.
type Stream struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	wait time.Duration // for the client to take an event
}

// Serve answers with a stream until ctx is done, the client is gone or does not take an
// event within 10 s, or send fails. It calls send each time that there may be something
// to send, and sends pings between.
func Serve(ctx context.Context, w http.ResponseWriter, wake <-chan struct{}, send func(*Stream) error) {
	s, err := start(w, takeWait)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			err = s.ping()
		case <-wake:
			err = send(s)
		}
	}
}

func start(w http.ResponseWriter, wait time.Duration) (*Stream, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &Stream{w, http.NewResponseController(w), wait}
	_ = s.ctl.SetReadDeadline(time.Time{}) // that of the request; recorders of tests have none
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

// ping sends a comment, so that proxies and clients see that the stream is alive.
func (s *Stream) ping() error { return s.send([]byte(":\n\n")) }

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
