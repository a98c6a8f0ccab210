// This file tests servers that are busy. The client must try again when the server says so, and make each change only
// once.

package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// busy simulates an overloaded server, or an overloaded proxy in front of a server. It answers some requests with the
// status code and with the string after in the header Retry-After.
type busy struct {
	left  atomic.Int64 // number of further requests that are answered with the status code
	code  int
	after string
	own   bool // the answers look like those of the server, and not of a proxy
	acts  bool // the request is carried out in spite of the answer
}

func (b *busy) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/about") || b.left.Add(-1) < 0 {
			h.ServeHTTP(w, r)
			return
		}
		if b.acts {
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
		w.Header().Set("Retry-After", b.after)
		if b.own {
			p := MakeProblem(&oxbow.QuotaError{Bound: "changes a second", Most: 5})
			p.Status = b.code
			p.Write(w)
			return
		}
		http.Error(w, "<html>busy</html>", b.code)
	})
}

// TestLater checks that the client tries again after the time that a server names, and that a change is made only
// once, whoever sent the answer.
func TestLater(t *testing.T) {
	for _, b := range []*busy{
		{code: 429, after: "7", own: true},
		{code: 429, after: "7"},
		{code: 503, after: "7", own: true},
		{code: 503, after: "7"},
		{code: 503, after: "7", acts: true},
	} {
		t.Run(fmt.Sprintf("%+v", struct {
			code      int
			own, acts bool
		}{b.code, b.own, b.acts}), func(t *testing.T) {
			m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
			s := serve(t, m, b.wrap)
			var waits []time.Duration
			most := 3
			c, err := Open(s.url, secret, &Options{WaitForServer: func(_ context.Context, after time.Duration) error {
				if len(waits) == most {
					return errors.New("no longer")
				}
				waits = append(waits, after)
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			b.left.Store(2)
			if err := c.Apply(t.Context(), oxbow.Add{Name: "a", Content: "x"}); err != nil || changes(t, m) != 1 ||
				fmt.Sprint(waits) != "[7s 7s]" {
				t.Errorf(
					"Apply() = %v, with %d changes, after waits of %v; want nil, 1, two of 7s",
					err,
					changes(t, m),
					waits,
				)
			}
			waits = nil
			b.left.Store(3)
			if _, err := c.Get(t.Context(), "a"); err != nil || len(waits) != 3 {
				t.Errorf("Get() = %v after waits of %v, want nil after 3", err, waits)
			}
			waits = nil
			b.left.Store(9)
			var later *RetryLaterError
			if _, err := c.Get(t.Context(), "a"); !errors.As(err, &later) || later.RetryAfter != 7*time.Second ||
				b.left.Load() != 5 {
				t.Errorf(
					"Get() of one that stays busy = %v with %d left, want a LaterError of 7s after 4 requests",
					err,
					b.left.Load(),
				)
			}
			waits = nil
			b.left.Store(9)
			err = c.Apply(t.Context(), oxbow.Add{Name: "b", Content: "x"})
			if !errors.As(err, &later) || b.left.Load() != 5 {
				t.Errorf(
					"Apply() of one that stays busy = %v with %d left, want a LaterError after 4 requests",
					err,
					b.left.Load(),
				)
			}
			if lost := errors.Is(err, oxbow.ErrUnknownOutcome); lost != (b.code == 503 && !b.own) {
				t.Errorf("Apply() of one that stays busy = %v", err)
			}
		})
	}
}

// TestRetryAfter checks that the header may contain seconds, or a date by the server's own clock, and that anything
// else is ignored.
func TestRetryAfter(t *testing.T) {
	const now = "Tue, 24 Nov 2026 09:00:00 GMT"
	for after, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, " 5 ": 5 * time.Second, "0": time.Second, "-5": 0, "x": 0,
		"4294967295": maxRetryAfter, "99999999999999999999": 0,
		"Tue, 24 Nov 2026 09:01:00 GMT": time.Minute, "Tue, 24 Nov 2026 08:00:00 GMT": time.Second,
		"Tue, 24 Nov 2099 08:00:00 GMT": maxRetryAfter,
	} {
		res := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {after}, "Date": {now}}}
		if got := parseRetryAfter(res); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", after, got, want)
		}
		res.StatusCode = 500
		if got := parseRetryAfter(res); got != 0 {
			t.Errorf("retryAfter(%q) of a 500 = %v, want 0", after, got)
		}
	}
	res := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {now}}}
	if got := parseRetryAfter(res); got != 0 {
		t.Errorf("retryAfter() without the server's clock = %v, want 0", got)
	}
}
