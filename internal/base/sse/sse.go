// This file writes server-sent events, which a browser reads with EventSource.

// Package sse writes server-sent events as defined by the HTML standard.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	receiveTimeout = 10 * time.Second // maximum time for a client to receive an event
	pingInterval   = 15 * time.Second
)

// LastEventIDHeader is the header in which a reconnecting client sends the ID of the last event that
// it received.
const LastEventIDHeader = "Last-Event-ID"

// A EventStream is a response that sends events. It must be used by only one goroutine.
type EventStream struct {
	response       http.ResponseWriter
	controller     *http.ResponseController
	receiveTimeout time.Duration // maximum time for the client to receive an event
}

// ServeEvents responds with a stream. It calls send after each receive from wake, and sends pings in
// between. It returns when ctx is done, when the client disconnects or does not receive an event
// within 10 s, or when send returns an error.
func ServeEvents(ctx context.Context, w http.ResponseWriter, wake <-chan struct{}, send func(*EventStream) error) {
	s, err := startStream(w, receiveTimeout)
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			err = s.sendPing()
		case <-wake:
			err = send(s)
		}
	}
}

func startStream(w http.ResponseWriter, wait time.Duration) (*EventStream, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &EventStream{w, http.NewResponseController(w), wait}
	_ = s.controller.SetReadDeadline(time.Time{}) // remove the deadline of the request; test recorders have none
	w.WriteHeader(http.StatusOK)
	return s, s.writeBytes([]byte("retry: 1000\n\n"))
}

// SendEvent sends an event with a name. When the client reconnects, it sends the ID of the last event
// in the header Last-Event-ID. An empty id leaves this ID unchanged. Line ends in data arrive as
// \n.
func (s *EventStream) SendEvent(id, name string, data []byte) error {
	var b bytes.Buffer
	field := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + lineEndRemover.Replace(value) + "\n")
		}
	}
	field("id", id)
	field("event", name)
	for line := range bytes.SplitSeq(normalizeLineEnds(data), []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return s.writeBytes(b.Bytes())
}

// sendPing sends a comment, so that proxies and clients know that the stream is alive.
func (s *EventStream) sendPing() error { return s.writeBytes([]byte(":\n\n")) }

var lineEndRemover = strings.NewReplacer("\r", "", "\n", "", "\x00", "")

func normalizeLineEnds(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (s *EventStream) writeBytes(b []byte) error {
	_ = s.controller.SetWriteDeadline(
		time.Now().Add(s.receiveTimeout),
	) // ignore the error: test recorders have no deadlines
	if _, err := s.response.Write(b); err != nil {
		return err
	}
	return s.controller.Flush()
}
