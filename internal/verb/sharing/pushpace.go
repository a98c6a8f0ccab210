// A pace that a server must keep: one that takes or gives its bytes too slowly is given up.

package sharing

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// answerWait is how long a server may take to begin an answer, or to go on with it.
const answerWait = 2 * time.Minute

// leastPace is how many bytes a second a request and its answer must make in the long
// run.
const leastPace = 4 << 10

// errSlow is of a server that is given up.
var errSlow = errors.New("the server is too slow: it took or gave less than 4 kB a second for two minutes")

// paced is a transport that gives up slow servers.
type paced struct{ base http.RoundTripper }

// allowed is how long so many bytes may take.
func allowed(n int64) time.Duration {
	return answerWait + time.Duration(max(n, 0))*time.Second/leastPace
}

// RoundTrip implements [http.RoundTripper].
func (p paced) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(allowed(req.ContentLength), func() { cancel(errSlow) })
	res, err := p.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		defer cancel(nil)
		return nil, slow(ctx, err)
	}
	timer.Stop()
	res.Body = &pacedBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, timer: timer}
	return res, nil
}

// CloseIdleConnections is that of the transport.
func (p paced) CloseIdleConnections() {
	if c, ok := p.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// slow returns the error, or errSlow where that is why.
func slow(ctx context.Context, err error) error {
	if err != nil && err != io.EOF && context.Cause(ctx) == errSlow {
		return errSlow
	}
	return err
}

// pacedBody is the body of an answer. What its reader does between two reads does not
// count.
type pacedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // gives the answer up
	took   time.Duration
	n      int64 // bytes read
}

// Read implements [io.Reader].
func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.timer.Reset(allowed(b.n) - b.took)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	b.took += time.Since(began)
	b.n += int64(n)
	return n, slow(b.ctx, err)
}

// Close implements [io.Closer].
func (b *pacedBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
