// The transport over standard streams: one client, newline-delimited
// JSON.

package mcpserver

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime is how long calls may go on when no more can come. It leaves the
// server time to end within a second.
const drainTime = 800 * time.Millisecond

// ServeStdio serves the client that writes to in and reads from out, until in
// ends: then it answers the calls it has read, gives them up after 0.8 s, and
// returns nil. It writes nothing but the protocol to out and closes neither.
// When ctx ends it returns its error; a Read of in that hangs then keeps one
// goroutine until it returns.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := s.open("mcp")
	if err != nil {
		return err
	}
	return m.Run(ctx, &draining{Transport: &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopWriteCloser{out}}, wait: drainTime})
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// draining is a transport that holds the end of input back while calls are
// being answered. Without it, the end of input cancels them: a client that
// writes its calls and closes the pipe would get no answers.
type draining struct {
	mcp.Transport
	wait time.Duration
}

func (t *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainConn{Connection: c, wait: t.wait, open: map[jsonrpc.ID]bool{}, idle: make(chan struct{}), closed: make(chan struct{})}, nil
}

type drainConn struct {
	mcp.Connection
	wait   time.Duration
	closed chan struct{} // closed by Close
	once   sync.Once     // guards the closing of closed

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // calls read and not answered
	ended bool                // no more calls come
	idle  chan struct{}       // closed when ended and open is empty
}

func (c *drainConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		return msg, err
	}
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		c.mu.Lock()
		c.open[r.ID] = true
		c.mu.Unlock()
	}
	return msg, nil
}

// drain waits until all calls are answered, or long enough.
func (c *drainConn) drain(ctx context.Context) {
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

func (c *drainConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if r, ok := msg.(*jsonrpc.Response); ok {
		c.mu.Lock()
		was := len(c.open)
		delete(c.open, r.ID)
		if c.ended && was > 0 && len(c.open) == 0 {
			close(c.idle)
		}
		c.mu.Unlock()
	}
	return err
}

func (c *drainConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
