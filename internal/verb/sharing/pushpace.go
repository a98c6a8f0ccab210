// This file ends connections to servers that send or receive data too slowly.

package sharing

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// answerWait is the maximum time until a server begins an answer or continues it.
const answerWait = 2 * time.Minute

// leastPace is the minimum rate of a request and its answer in the long run, in bytes per second.
const leastPace = 4 << 10

// errSlow reports that a connection was ended because the server is too slow.
var errSlow = errors.New("the server is too slow: it took or gave less than 4 kB a second for two minutes")

// pacedTransport is a transport that ends connections to slow servers.
type pacedTransport struct{ base http.RoundTripper }

// allowedTime returns the maximum time for a transfer of n bytes.
func allowedTime(n int64) time.Duration {
	return answerWait + time.Duration(max(n, 0))*time.Second/leastPace
}

// RoundTrip implements [http.RoundTripper].
func (p pacedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(allowedTime(req.ContentLength), func() { cancel(errSlow) })
	res, err := p.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		defer cancel(nil)
		return nil, replaceIfSlow(ctx, err)
	}
	timer.Stop()
	res.Body = &pacedBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, timer: timer}
	return res, nil
}

// CloseIdleConnections closes the idle connections of the underlying transport.
func (p pacedTransport) CloseIdleConnections() {
	if c, ok := p.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// replaceIfSlow returns errSlow if the context was cancelled for that reason, and otherwise err.
func replaceIfSlow(ctx context.Context, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if context.Cause(ctx) == errSlow {
		return errSlow
	}
	return err
}

// pacedBody is the body of an answer. Only the time inside of Read counts, not the time that its
// reader needs between two calls.
type pacedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // cancels the request
	took   time.Duration
	n      int64 // bytes read
}

// Read implements [io.Reader].
func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.timer.Reset(allowedTime(b.n) - b.took)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	b.took += time.Since(began)
	b.n += int64(n)
	return n, replaceIfSlow(b.ctx, err)
}

// Close implements [io.Closer].
func (b *pacedBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
