// This file ends connections to servers that are too slow.

package sharing

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxAnswerWait is the maximum time until a server begins or continues its answer.
const maxAnswerWait = 2 * time.Minute

// minBytesPerSecond is the minimum number of bytes per second that a request and its answer must have on average.
const minBytesPerSecond = 4 << 10

// errSlowServer means that a connection was ended because the server is too slow.
var errSlowServer = errors.New("the server is too slow: it took or gave less than 4 kB a second for two minutes")

// minSpeedTransport is a transport that ends connections to slow servers. Its timer cancels a request if one of these
// takes longer than [allowedTransferTime]:
//
//   - RoundTrip, that is, sending the request and receiving the answer's header
//   - all calls of Read together that read the answer's body
//
// The timer does not run between these calls, because the client's own work does not make a server slow.
type minSpeedTransport struct{ base http.RoundTripper }

// allowedTransferTime returns the maximum time for transferring this many bytes.
func allowedTransferTime(bytes int64) time.Duration {
	return maxAnswerWait + time.Duration(max(bytes, 0))*time.Second/minBytesPerSecond
}

// RoundTrip implements [http.RoundTripper]. It returns errSlowServer if the server was too slow. The caller must close
// the body of the answer, which releases the request's context.
func (p minSpeedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(allowedTransferTime(req.ContentLength), func() { cancel(errSlowServer) })
	res, err := p.base.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		// Find out whether the time limit has cancelled the request. Do this before cancel(nil), which cancels the
		// context for another reason.
		err = slowServerError(ctx, err)
		cancel(nil)
		return nil, err
	}
	// The body needs the context until it is closed. Each call of its method Read starts the timer again.
	res.Body = &minSpeedBody{ReadCloser: res.Body, ctx: ctx, cancel: cancel, timer: timer}
	return res, nil
}

// CloseIdleConnections closes the idle connections of p.base, the transport that makes the requests.
func (p minSpeedTransport) CloseIdleConnections() {
	if c, ok := p.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// slowServerError returns the error to report for err, an error of a request with the context ctx. This is
// errSlowServer if the request was cancelled because the server is too slow, and otherwise err itself. If err is nil or
// io.EOF, slowServerError returns err unchanged.
func slowServerError(ctx context.Context, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if context.Cause(ctx) == errSlowServer {
		return errSlowServer
	}
	return err
}

// minSpeedBody is the body of an answer from a server that must send a minimum number of bytes per second. If the
// server is slower, the request is cancelled. Only the time in calls of Read counts as transfer time. The time that the
// reader needs between two calls does not count.
type minSpeedBody struct {
	io.ReadCloser
	ctx           context.Context
	cancel        context.CancelCauseFunc
	timer         *time.Timer // cancels the request when it expires
	spentReadTime time.Duration
	bytesRead     int64 // number of bytes read so far
}

// Read implements [io.Reader].
func (b *minSpeedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.timer.Reset(allowedTransferTime(b.bytesRead) - b.spentReadTime)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	b.spentReadTime += time.Since(began)
	b.bytesRead += int64(n)
	return n, slowServerError(b.ctx, err)
}

// Close implements [io.Closer].
func (b *minSpeedBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
