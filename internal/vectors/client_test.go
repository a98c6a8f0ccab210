// This file tests the client with a local endpoint that computes real vectors.

package vectors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/vectorstest"
)

// client returns a client of the endpoint. The client does not wait before it repeats a request, but records how long
// it would have waited.
func client(t *testing.T, s *vectorstest.Server) (*Client, *[]time.Duration) {
	t.Helper()
	e, err := NewClient(s.URL, vectorstest.ModelName)
	if err != nil {
		t.Fatal(err)
	}
	waits := new([]time.Duration)
	e.HTTPClient = s.Client()
	e.RetryWait = func(ctx context.Context, d time.Duration) error { *waits = append(*waits, d); return ctx.Err() }
	return e, waits
}

// mapCache is a cache in memory.
type mapCache map[string][]float32

func (c mapCache) Get(endpoint, model, text string) []float32 { return c[endpoint+model+text] }

func (c mapCache) Put(endpoint, model, text string, v []float32) error {
	c[endpoint+model+text] = v
	return nil
}

func TestVectors(t *testing.T) {
	s := vectorstest.NewServer(t)
	e, _ := client(t, s)
	e.BatchSize, e.MaxTextBytes = 2, 7
	if err := e.SetBearerToken("secret"); err != nil {
		t.Fatal(err)
	}
	cache := mapCache{}
	e.Cache = cache
	texts := []string{"red red", "blue", "red red", "", "green über alles", "blue"}
	vs, err := e.Vectors(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	// The list contains four different texts. The text with the ü is longer than MaxTextBytes. It is truncated before
	// the ü, because a character must not be cut.
	want := []string{"red red", "blue", "red red", "", "green ", "blue"}
	for i, v := range vs {
		w := vectorstest.BagOfWords(want[i])
		normalizeVector(w)
		if !slices.Equal(v, w) {
			t.Errorf("vector of %q is not that of %q", texts[i], want[i])
		}
	}
	if !slices.Equal(s.BatchSizes(), []int{2, 2}) ||
		!slices.Equal(s.AuthorizationHeaders(), []string{"Bearer secret", "Bearer secret"}) {
		t.Errorf("requests of %v texts with the keys %v", s.BatchSizes(), s.AuthorizationHeaders())
	}
	// Another client with the same cache needs no request.
	e, _ = client(t, s)
	e.MaxTextBytes, e.Cache = 7, cache
	again, err := e.Vectors(t.Context(), texts)
	if err != nil || len(s.BatchSizes()) != 2 || !slices.EqualFunc(vs, again, slices.Equal) {
		t.Errorf("from the cache: %v, after %d requests", err, len(s.BatchSizes()))
	}
	if e.stats.CachedTexts != 6 || e.stats.ComputedTexts != 0 || e.stats.TruncatedTexts != 1 {
		t.Errorf("stats %+v", e.stats)
	}
}

func TestRetries(t *testing.T) {
	ask := func(before func(w http.ResponseWriter, n int) bool) (*vectorstest.Server, []time.Duration, error) {
		s := vectorstest.NewServer(t)
		s.BeforeAnswer = before
		e, waits := client(t, s)
		_, err := e.Vectors(t.Context(), []string{"one", "two"})
		return s, *waits, err
	}
	fail := func(w http.ResponseWriter, status int, body string) bool {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
	// The endpoint is busy twice, and then answers.
	s, waits, err := ask(func(w http.ResponseWriter, n int) bool { return n < 3 && fail(w, 503, "loading") })
	if err != nil || len(s.BatchSizes()) != 3 || !slices.Equal(waits, []time.Duration{time.Second, 2 * time.Second}) {
		t.Errorf("busy twice: %v after %d requests and %v", err, len(s.BatchSizes()), waits)
	}
	// The endpoint says how long to wait. The client accepts this up to a limit.
	_, waits, err = ask(func(w http.ResponseWriter, n int) bool {
		w.Header().Set("Retry-After", []string{"7", "86400", ""}[n-1])
		return n < 3 && fail(w, 429, "")
	})
	if err != nil || !slices.Equal(waits, []time.Duration{7 * time.Second, time.Minute}) {
		t.Errorf("Retry-After: %v, %v", err, waits)
	}
	// The endpoint is always busy.
	s, _, err = ask(func(w http.ResponseWriter, n int) bool { return fail(w, 500, "out of\nmemory") })
	var e *Error
	if !errors.As(err, &e) || e.Status != 500 || e.Attempts != 5 || len(s.BatchSizes()) != 5 ||
		!strings.Contains(err.Error(), "500 Internal Server Error: out of memory (tried 5 times)") {
		t.Errorf("always busy: %v after %d requests", err, len(s.BatchSizes()))
	}
	// Another attempt would not help.
	s, waits, err = ask(func(w http.ResponseWriter, n int) bool {
		return fail(w, 401, `{"error":{"message":"no key","type":"auth"}}`)
	})
	if !errors.As(err, &e) || e.Status != 401 || len(s.BatchSizes()) != 1 || len(waits) > 0 ||
		!strings.HasSuffix(err.Error(), "401 Unauthorized: no key") {
		t.Errorf("no key: %v after %d requests", err, len(s.BatchSizes()))
	}
	for body, want := range map[string]string{
		`hello`:                        "not what /v1/embeddings gives",
		`{"data":[{"embedding":[1]}]}`: "1 vectors for 2 texts",
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`: "twice",
		`{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`: "of none",
		`{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`:                   "2 numbers, where others have 1",
		`{"data":[{"embedding":[]},{"embedding":[]}]}`:                       "0 numbers",
		`{"data":[{"embedding":[1e99]},{"embedding":[1]}]}`:                  "not what /v1/embeddings gives",
	} {
		_, _, err = ask(func(w http.ResponseWriter, n int) bool { return fail(w, 200, body) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("answer %s: %v, want %q", body, err, want)
		}
	}
	// There is no server, and then the context is cancelled while the client waits.
	s = vectorstest.NewServer(t)
	c, _ := client(t, s)
	s.Close()
	if _, err := c.Vectors(t.Context(), []string{"x"}); !errors.As(err, &e) || e.Status != 0 || e.Attempts != 5 {
		t.Errorf("nobody there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c.RetryWait = func(context.Context, time.Duration) error { cancel(); return nil }
	if _, err := c.Vectors(ctx, []string{"x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

func TestNewClient(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:11434":            "http://127.0.0.1:11434/v1/embeddings",
		"https://api.example.org/v1/":       "https://api.example.org/v1/embeddings",
		"https://example.org/x/embeddings":  "https://example.org/x/embeddings",
		"http://localhost:8080/openai/v1":   "http://localhost:8080/openai/v1/embeddings",
		"127.0.0.1:8080":                    "",
		"ftp://example.org":                 "",
		"http://":                           "",
		"http://me:pass@example.org":        "",
		"http://example.org/v1?key=1":       "",
		"http://example.org:80:80/v1 space": "",
	} {
		e, err := NewClient(in, "m")
		if (err == nil) != (want != "") || (err == nil && e.endpoint != want) {
			t.Errorf("NewClient(%q) = %+v, %v, want %q", in, e, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pass") {
			t.Errorf("the error says the password: %v", err)
		}
	}
	if _, err := NewClient("http://127.0.0.1", ""); err == nil {
		t.Error("a model without a name is no error")
	}
	for at, ok := range map[string]bool{"http://127.0.0.1:1": true, "http://[::1]:1": true, "http://localhost": true,
		"https://example.org": true, "http://example.org": false, "http://10.0.0.1": false} {
		e, err := NewClient(at, "m")
		if err != nil {
			t.Fatal(err)
		}
		if err := e.SetBearerToken("k"); (err == nil) != ok {
			t.Errorf("SetKey for %s = %v, want it taken: %v", at, err, ok)
		}
		if err := e.SetBearerToken(""); err != nil {
			t.Errorf("no key for %s: %v", at, err)
		}
	}
}

// FuzzAnswer tests that for any answer of the endpoint, the result consists of vectors of equal length, or is an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,-4.5]}]}`))
	f.Add([]byte(`{"data":[{"embedding":null},{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Client
		vs, err := e.decodeAnswer(b, 2)
		if err != nil {
			return
		}
		if len(vs) != 2 || len(vs[0]) == 0 || len(vs[0]) != len(vs[1]) || e.dimension != len(vs[0]) {
			t.Fatalf("read(%q) = %v", b, vs)
		}
	})
}

// TestAnswerWithoutEnd tests that a very long answer is refused as soon as it exceeds the maximum size. The rest of the
// answer must not be read.
func TestAnswerWithoutEnd(t *testing.T) {
	sent := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data":[{"embedding":[`)
		for chunk := strings.Repeat("0.1,", 4<<10); sent < 64<<20; sent += len(chunk) {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL, "m")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Vectors(t.Context(), []string{"one text"})
	if err == nil || !strings.Contains(err.Error(), "is longer than the") {
		t.Errorf("Vectors = %v, want that the answer is too long", err)
	}
	srv.CloseClientConnections()
	srv.Close()
	if sent > 32<<20 {
		t.Errorf("%d bytes were read of the answer", sent)
	}
}
