// This file implements the health check, which tells monitoring systems whether memories can be read.

package tenant

import (
	"context"
	"io"
	"net/http"
	"time"
)

// These are the times of the health check.
const (
	healthTimeout = time.Second // maximum duration of a check
	healthMaxAge  = time.Second // time for which a result is reused
)

// Health serves /healthz. It answers with an error if memories cannot be read. A nil Health always reports success.
type Health struct {
	checkMemory func(context.Context) error
	now         func() time.Time

	lock      chan struct{} // holds one value while the fields below are in use; concurrent requests share a result
	checkTime time.Time     // time when err was determined
	err       error
}

// NewHealth returns a Health that calls checkMemory to find out whether memories can be read. Everybody can see the
// text of the error that ready returns.
func NewHealth(checkMemory func(context.Context) error, now func() time.Time) *Health {
	return &Health{checkMemory: checkMemory, now: now, lock: make(chan struct{}, 1)}
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

// checkReady returns the result of ready. The result may be up to healthMaxAge old.
func (h *Health) checkReady() error {
	if h == nil {
		return nil
	}
	h.lock <- struct{}{}
	defer func() { <-h.lock }()
	if now := h.now(); h.checkTime.IsZero() || now.Sub(h.checkTime) >= healthMaxAge {
		// Do not use the context of the request, because other requests share the result.
		ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
		defer cancel()
		h.err = h.checkMemory(ctx)
		h.checkTime = h.now()
	}
	return h.err
}
