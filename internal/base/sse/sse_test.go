// This file tests the bytes that are sent to a client.

package sse

import (
	"net/http/httptest"
	"testing"
	"time"
)

func TestStream(t *testing.T) {
	w := httptest.NewRecorder()
	s, err := startStream(w, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		s.SendEvent("7", "change", []byte(`{"a":1}`)),
		s.SendEvent("8\nevent: x", "", []byte("one\r\ntwo\rdata: three")),
		s.sendPing(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "retry: 1000\n\nid: 7\nevent: change\ndata: {\"a\":1}\n\nid: 8event: x\ndata: one\ndata: two\ndata: " +
		"data: three\n\n:\n\n"
	if got := w.Body.String(); got != want {
		t.Errorf("the stream is %q, want %q", got, want)
	}
	if w.Header().Get("Content-Type") != "text/event-stream" || !w.Flushed {
		t.Errorf("headers %v, flushed %v", w.Header(), w.Flushed)
	}
}
