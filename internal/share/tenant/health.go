// This file implements the health check, which tells monitoring whether memories can be read.

package tenant

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Times for the health check.
const (
	healthTimeout = time.Second // timeout of the check
	healthMaxAge  = time.Second // time for which the result is cached
)

// Health serves /healthz. A nil Health always reports success.
type Health struct {
	ready func(context.Context) error
	now   func() time.Time

	lock      chan struct{} // lock for the fields below (concurrent requests share a result)
	checkTime time.Time     // time of the last check
	err       error
}

// NewHealth returns a Health that calls ready. The text of ready's error is visible to everybody.
func NewHealth(ready func(context.Context) error, now func() time.Time) *Health {
	return &Health{ready: ready, now: now, lock: make(chan struct{}, 1)}
}

// ServeHTTP implements [http.Handler].
func (h *Health) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if err := h.checkReady(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// checkReady returns the result of ready, which is at most a second old.
func (h *Health) checkReady() error {
	if h == nil {
		return nil
	}
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	if now := h.now(); h.checkTime.IsZero() || now.Sub(h.checkTime) >= healthMaxAge {
		// Not the context of the request, because other requests share the result.
		ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
		defer cancel()
		h.err = h.ready(ctx)
		h.checkTime = h.now()
	}
	return h.err
}
