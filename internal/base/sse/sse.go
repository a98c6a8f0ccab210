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

// LastID is the header in which a reconnecting client sends the ID of the last event that
// it received.
const LastID = "Last-Event-ID"

// A Stream is a response that sends events. It must be used by only one goroutine.
type Stream struct {
	response   http.ResponseWriter
	controller *http.ResponseController
	wait       time.Duration // maximum time for the client to receive an event
}

// Serve responds with a stream. It calls send after each receive from wake, and sends pings in
// between. It returns when ctx is done, when the client disconnects or does not receive an event
// within 10 s, or when send returns an error.
func Serve(ctx context.Context, w http.ResponseWriter, wake <-chan struct{}, send func(*Stream) error) {
	s, err := startStream(w, receiveTimeout)
	ping := time.NewTicker(pingInterval)
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

func startStream(w http.ResponseWriter, wait time.Duration) (*Stream, error) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s := &Stream{w, http.NewResponseController(w), wait}
	_ = s.controller.SetReadDeadline(time.Time{}) // remove the deadline of the request; test recorders have none
	w.WriteHeader(http.StatusOK)
	return s, s.send([]byte("retry: 1000\n\n"))
}

// Event sends an event with a name. When the client reconnects, it sends the ID of the last event
// in the header Last-Event-ID. An empty id leaves this ID unchanged. Line ends in data arrive as
// \n.
func (s *Stream) Event(id, name string, data []byte) error {
	var b bytes.Buffer
	field := func(key, value string) {
		if value != "" {
			b.WriteString(key + ": " + oneLine.Replace(value) + "\n")
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
	return s.send(b.Bytes())
}

// ping sends a comment, so that proxies and clients know that the stream is alive.
func (s *Stream) ping() error { return s.send([]byte(":\n\n")) }

var oneLine = strings.NewReplacer("\r", "", "\n", "", "\x00", "")

func normalizeLineEnds(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\r"), []byte("\n"))
}

func (s *Stream) send(b []byte) error {
	_ = s.controller.SetWriteDeadline(time.Now().Add(s.wait)) // ignore the error: test recorders have no deadlines
	if _, err := s.response.Write(b); err != nil {
		return err
	}
	return s.controller.Flush()
}
