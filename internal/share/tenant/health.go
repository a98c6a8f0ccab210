// Health: whether memories can be read now, for those that probe it.

package tenant

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Times of an answer about health.
const (
	healthWait = time.Second // for what is asked
	healthAge  = time.Second // until it is asked again
)

// Health answers /healthz. A nil one answers that all is well.
type Health struct {
	ready func(context.Context) error
	now   func() time.Time

	turn chan struct{} // holds one, while all below is used; probes share an answer
	at   time.Time     // when it was asked last
	err  error
}

// NewHealth returns the health of what ready is about. The text of its error is for all
// to see.
func NewHealth(ready func(context.Context) error, now func() time.Time) *Health {
	return &Health{ready: ready, now: now, turn: make(chan struct{}, 1)}
}

// ServeHTTP implements [http.Handler].
func (h *Health) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if err := h.check(); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n")
}

// check returns what ready returned, within the last second.
func (h *Health) check() error {
	if h == nil {
		return nil
	}
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if now := h.now(); h.at.IsZero() || now.Sub(h.at) >= healthAge {
		ctx, cancel := context.WithTimeout(context.Background(), healthWait) // not that of one probe
		defer cancel()
		h.err = h.ready(ctx)
		h.at = h.now()
	}
	return h.err
}
