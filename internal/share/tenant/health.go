// This file implements the health check, which tells monitoring systems whether memories can be read.

package tenant

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Time limits of the health check, which answers whether memories can be read.
const (
	healthTimeout = time.Second // maximum duration of a check
	healthMaxAge  = time.Second // time for which the result of a check is reused
)

// Health serves /healthz. It answers with an error if memories cannot be read. A nil Health always reports success.
type Health struct {
	checkMemories func(context.Context) error
	now           func() time.Time

	// fieldsLock is the lock for the fields below. It is a channel with capacity 1 that contains a value while the
	// fields are in use.
	fieldsLock chan struct{}
	checkTime  time.Time // time when checkMemories was last called
	err        error
}

// NewHealth returns a Health that calls checkMemories to find out whether memories can be read. Everybody can see the
// text of the error that checkMemories returns.
func NewHealth(checkMemories func(context.Context) error, now func() time.Time) *Health {
	return &Health{checkMemories: checkMemories, now: now, fieldsLock: make(chan struct{}, 1)}
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

// checkReady returns the error that checkMemories returned, which is nil if memories can be read. If the last call of
// checkMemories was less than healthMaxAge ago, checkReady returns the result of that call. Otherwise checkReady calls
// checkMemories again. If h is nil, checkReady returns nil.
func (h *Health) checkReady() error {
	if h == nil {
		return nil
	}
	h.fieldsLock <- struct{}{}
	defer func() { <-h.fieldsLock }()
	if now := h.now(); h.checkTime.IsZero() || now.Sub(h.checkTime) >= healthMaxAge {
		// Do not use the request's context, because the result of the check also answers other requests.
		ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
		defer cancel()
		h.err = h.checkMemories(ctx)
		h.checkTime = h.now()
	}
	return h.err
}
