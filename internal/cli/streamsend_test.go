// This file tests that event streams end with the server.

package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestStreamsEnd tests that a stream ends when the server is told to end, although the client still reads it.
func TestStreamsEnd(t *testing.T) {
	for _, path := range []string{"/ui/events", "/api/v1/events", "/mcp", "/mcp/p/harbor"} {
		t.Run(path[1:], func(t *testing.T) { streamEnds(t, path) })
	}
}

func streamEnds(t *testing.T, path string) {
	ctx, end := context.WithCancel(t.Context())
	began := make(chan bool, 1)
	srv := httptest.NewServer(endStreamsWithContext(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- true
		select {
		case <-r.Context().Done():
			w.WriteHeader(http.StatusNoContent)
		case <-t.Context().Done():
		}
	})))
	t.Cleanup(srv.Close)
	go func() { <-began; end() }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusNoContent {
		t.Errorf("the stream ended with %s", res.Status)
	}
}
