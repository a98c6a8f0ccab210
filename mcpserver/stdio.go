// The transport of standard streams: one client, one JSON message a line.

package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// graceTime is how long calls may go on when no more can come. It leaves the
// server time to end within a second.
const graceTime = 800 * time.Millisecond

// ServeStdio serves the client that writes to in and reads from out, until in
// ends: then it answers the calls it has read, gives them up after 0.8 s, and
// returns nil. A line that is no message is answered with an error. It writes
// nothing but the protocol to out and closes neither.
// When ctx ends it returns its error; a Read of in that hangs then keeps one
// goroutine until it returns.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := s.open(stdioName)
	if err != nil {
		return err
	}
	locked := &lockedWriter{w: out}
	return m.Run(ctx, &draining{wait: graceTime, Transport: &mcp.IOTransport{
		Reader: io.NopCloser(newMessages(in, locked)), Writer: nopWriteCloser{locked},
		MaxLineLength: -1, // messages has bounded it
	}})
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// draining is a transport that delays the end of input while calls are being
// answered. Without it, the end of input cancels them: a client that writes its
// calls and closes the pipe would get no answers. It does not answer calls that
// the client cancelled, as the protocol requires.
type draining struct {
	mcp.Transport
	wait time.Duration
}

func (t *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &graceConn{Connection: c, wait: t.wait, open: map[jsonrpc.ID]pending{}, idle: make(chan struct{}), closed: make(chan struct{})}, nil
}

type graceConn struct {
	mcp.Connection
	wait   time.Duration
	closed chan struct{} // closed by Close
	once   sync.Once     // guards the closing of closed

	mu    sync.Mutex
	open  map[jsonrpc.ID]pending // calls read and not answered
	ended bool                   // no more calls come
	idle  chan struct{}          // closed when ended and open is empty
}

// pending is a call that is not answered yet.
type pending struct{ cancelled bool }

func (c *graceConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.awaitCalls(ctx)
		return msg, err
	}
	if r, ok := msg.(*jsonrpc.Request); ok {
		c.note(r)
	}
	return msg, nil
}

// note records a call, or that one is cancelled.
func (c *graceConn) note(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.open[r.ID] = pending{}
		return
	}
	var p mcp.CancelledParams
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if _, open := c.open[id]; err == nil && open {
		c.open[id] = pending{cancelled: true}
	}
}

// awaitCalls waits until all calls are answered, or long enough.
func (c *graceConn) awaitCalls(ctx context.Context) {
	c.mu.Lock()
	first := !c.ended
	c.ended = true
	if first && len(c.open) == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	t := time.NewTimer(c.wait)
	defer t.Stop()
	select {
	case <-c.idle:
	case <-c.closed:
	case <-ctx.Done():
	case <-t.C:
	}
}

func (c *graceConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	c.mu.Lock()
	cancelled := c.open[r.ID].cancelled
	c.mu.Unlock()
	var err error
	if !cancelled {
		err = c.Connection.Write(ctx, withCode(r))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	was := len(c.open)
	delete(c.open, r.ID)
	if c.ended && was > 0 && len(c.open) == 0 {
		close(c.idle)
	}
	return err
}

// withCode returns the response with a code of JSON-RPC if it is an error: the
// SDK answers with 0 where it has none.
func withCode(r *jsonrpc.Response) *jsonrpc.Response {
	var coded *jsonrpc.Error
	if r.Error == nil || errors.As(r.Error, &coded) && coded.Code != 0 {
		return r
	}
	return &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.Error.Error()}}
}

func (c *graceConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
