// This file tests that health checks share a result that is at most a second old.

package tenant

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, stuck := 0, false
		var err error
		h := NewHealth(func(ctx context.Context) error {
			asked++
			if stuck {
				<-ctx.Done()
				return errors.New("no answer")
			}
			return err
		}, time.Now)
		probe := func(status int, body string, asks int) {
			t.Helper()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
			if w.Code != status || w.Body.String() != body || asked != asks ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf(
					"/healthz = %d %q after %d questions, want %d %q after %d",
					w.Code,
					w.Body,
					asked,
					status,
					body,
					asks,
				)
			}
		}
		probe(200, "ok\n", 1)
		err = errors.New("too few servers")
		probe(200, "ok\n", 1)
		time.Sleep(healthMaxAge)
		probe(503, "too few servers\n", 2)
		stuck = true
		time.Sleep(healthMaxAge)
		began := time.Now()
		for range 5 {
			go probe(503, "no answer\n", 3)
		}
		synctest.Wait()
		time.Sleep(healthTimeout)
		synctest.Wait()
		probe(503, "no answer\n", 3)
		if d := time.Since(began); d != healthTimeout {
			t.Errorf("six probes took %v", d)
		}
		stuck, err = false, nil
		time.Sleep(healthMaxAge)
		probe(200, "ok\n", 4)
	})
}
