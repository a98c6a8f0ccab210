// This file sends server-sent events, which a browser reads with EventSource.

// Package sse sends server-sent events as defined by the HTML standard.
package sse

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

const (
	clientReceiveTimeout = 10 * time.Second // maximum time in which a client must receive an event
	pingInterval         = 15 * time.Second
)

// LastEventIDHeader names the header in which a reconnecting client sends the ID of the last event that it received.
const LastEventIDHeader = "Last-Event-ID"

// A EventStream is an HTTP response to which events are written. Only one goroutine may use it.
type EventStream struct {
	response       http.ResponseWriter
	controller     *http.ResponseController
	receiveTimeout time.Duration // maximum time in which the client must receive an event
}

// ServeEvents answers a request with a stream of events. It calls send for each value from newEvents, and sends pings
// in between. It returns when ctx is done, when the client disconnects or does not receive an event within 10 s, or
// when send returns an error.
func ServeEvents(ctx context.Context, w http.ResponseWriter, newEvents <-chan struct{}, send func(*EventStream) error) {
	s, err := startStream(w, clientReceiveTimeout)
	ping := time.NewTicker(pingInterval)
	defer ping.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			err = s.sendPing()
		case <-newEvents:
			err = send(s)
		}
	}
}

func startStream(w http.ResponseWriter, receiveTimeout time.Duration) (*EventStream, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &EventStream{w, http.NewResponseController(w), receiveTimeout}
	// Remove the read deadline of the request. Ignore the error, because test recorders do not support deadlines.
	_ = s.controller.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return s, s.writeBytes([]byte("retry: 1000\n\n"))
}

// SendEvent sends an event with the given ID, name and data. If id is "", the event is sent without an ID. The client
// then keeps the ID of the last event that had one. When a client reconnects, it sends this last ID in the header
// Last-Event-ID. The client receives each line end in data as \n.
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

// sendPing sends an empty comment, so that proxies and the client know that the connection still works.
func (s *EventStream) sendPing() error { return s.writeBytes([]byte(":\n\n")) }

var lineEndRemover = strings.NewReplacer("\r", "", "\n", "", "\x00", "")

func normalizeLineEnds(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (s *EventStream) writeBytes(b []byte) error {
	_ = s.controller.SetWriteDeadline(
		time.Now().Add(s.receiveTimeout),
	) // Ignore the error: test recorders do not support deadlines.
	if _, err := s.response.Write(b); err != nil {
		return err
	}
	return s.controller.Flush()
}
