// This file tests which servers are too slow.

package sharing

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// drip is a transport with a slow server. It answers after a delay, and then sends a few bytes at a time, each after a
// delay.
type drip struct {
	before, each time.Duration
	bytes, times int
}

func (d drip) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := vfs.Sleep(req.Context(), d.before); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(&dripping{d, req.Context()})}, nil
}

type dripping struct {
	drip
	ctx context.Context
}

func (d *dripping) Read(p []byte) (int, error) {
	d.times--
	if d.times < 0 {
		return 0, io.EOF
	}
	return min(d.bytes, len(p)), vfs.Sleep(d.ctx, d.each)
}

// TestPace checks that a connection ends after a limited time if the server begins late, stops, or sends too slowly,
// and that a server that is just fast enough is not too slow.
func TestPace(t *testing.T) {
	const always = 1000 * time.Hour
	for what, tc := range map[string]struct {
		server drip
		body   int
		slow   bool
		after  time.Duration
	}{
		"a good one":           {drip{time.Second, time.Second, 64 << 10, 100}, 0, false, 101 * time.Second},
		"a slow one":           {drip{time.Minute, time.Second, 5 << 10, 10_000}, 0, false, 10_060 * time.Second},
		"no answer":            {drip{before: always}, 0, true, 2 * time.Minute},
		"no answer to a large": {drip{before: always}, 4 << 20, true, 2*time.Minute + 1024*time.Second},
		"no body":              {drip{0, always, 1, 1}, 0, true, 2 * time.Minute},
		"a byte a minute":      {drip{0, time.Minute - time.Second, 1, 1 << 30}, 0, true, 2 * time.Minute},
		"less than the pace":   {drip{0, time.Minute, 8192, 1 << 30}, 0, true, 2*time.Minute + 4*time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				req, err := http.NewRequestWithContext(
					t.Context(),
					http.MethodPost,
					"http://127.0.0.1",
					strings.NewReader(strings.Repeat("x", tc.body)),
				)
				if err != nil {
					t.Fatal(err)
				}
				res, err := minSpeedTransport{tc.server}.RoundTrip(req)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				if errors.Is(err, errSlowServer) != tc.slow || (!tc.slow && err != nil) ||
					time.Since(began).Round(time.Second) != tc.after {
					t.Errorf("it ended after %v with %v, want %v, slow: %v", time.Since(began), err, tc.after, tc.slow)
				}
			})
		})
	}
}

// TestPaceOfTheReader tests that minSpeedTransport, which ends connections to slow servers, measures only the server's
// time. The reader waits for an hour between two reads. This time must not end the connection.
func TestPaceOfTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := minSpeedTransport{drip{0, time.Second, 8192, 10}}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		for {
			time.Sleep(time.Hour)
			_, err = res.Body.Read(make([]byte, 100))
			if err != nil {
				break
			}
		}
		if err != io.EOF {
			t.Errorf("a slow reader's answer ended with %v", err)
		}
		_ = res.Body.Close()
	})
}
