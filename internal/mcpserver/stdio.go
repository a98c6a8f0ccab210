// The transport of standard streams: one client, one JSON message a line.

package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callTime is how long the server, when no more calls can come, waits for the next answer
// of a call that it has read. It is longer than a write waits for the lock of the store.
const callTime = 2 * time.Minute

// ServeStdio serves the client that writes to in and reads from out, until in or ctx
// ends. Then it finishes and answers the calls that it has read, however many there are.
// If no call is answered for [Options.Drain], the rest is answered with an error. It returns
// nil if in ended, and the error of ctx if that did; a Read of in that hangs then keeps
// one goroutine until it returns. A line that is no message is answered with an error.
// If out cannot be written any more, the calls are executed all the same, and the error
// of writing is returned in the end.
// ServeStdio writes nothing but the protocol to out and closes neither.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := s.open(stdioName)
	if err != nil {
		return err
	}
	locked := &lockedWriter{w: out}
	deaf := &untilFailed{w: locked}
	run := context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
	err = m.Run(run, &draining{stop: ctx, wait: cmp.Or(s.opts.Drain, callTime), reply: deaf, Transport: &mcp.IOTransport{
		Reader: io.NopCloser(newMessages(in, deaf)), Writer: nopWriteCloser{deaf},
		MaxLineLength: -1, // messages has bounded it
	}})
	return cmp.Or(ctx.Err(), err, deaf.failure())
}

// untilFailed writes until a write fails, and drops what follows: what a client sent is
// done even if the client does not read the answers.
type untilFailed struct {
	w io.Writer

	mu  sync.Mutex // guards err
	err error
}

func (u *untilFailed) Write(p []byte) (int, error) {
	if u.failure() != nil {
		return len(p), nil
	}
	if _, err := u.w.Write(p); err != nil {
		u.mu.Lock()
		u.err = fmt.Errorf("writing an answer: %w", err)
		u.mu.Unlock()
	}
	return len(p), nil
}

func (u *untilFailed) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// stopKey is the key of the context that ends when the server is to end.
type stopKey struct{}

// endingWithServer returns a context that also ends when the server is to end, for a call
// that would keep the server for long.
func endingWithServer(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if stop, ok := ctx.Value(stopKey{}).(context.Context); ok {
		context.AfterFunc(stop, cancel)
	}
	return ctx, cancel
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// draining is a transport that delays the end of input while calls are being
// answered. Without it, the end of input cancels them: a client that writes its
// calls and closes the pipe would get no answers. It does not answer calls that
// the client cancelled, as the protocol requires.
type draining struct {
	mcp.Transport
	stop  context.Context // when it ends, no more messages are read
	wait  time.Duration   // for the next answer, after the end of input
	reply io.Writer       // for errors that are no answers of the SDK
}

func (t *draining) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &graceConn{Connection: c, reply: t.reply, stop: t.stop, wait: t.wait, open: map[jsonrpc.ID]pending{}, answered: make(chan struct{}, 1), closed: make(chan struct{})}, nil
}

type graceConn struct {
	mcp.Connection
	reply    io.Writer
	stop     context.Context
	wait     time.Duration
	answered chan struct{} // receives after an answer; it has room for one
	closed   chan struct{} // closed by Close
	once     sync.Once     // guards the closing of closed

	mu   sync.Mutex
	open map[jsonrpc.ID]pending // calls read and not answered
}

// pending is a call that is not answered yet.
type pending struct {
	cancelled bool // by the client
	answering bool // the answer is being written
}

func (c *graceConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stop, cancel)()
	msg, err := c.Connection.Read(reading)
	for err == nil && c.isDuplicate(msg) {
		err = twice.write(c.reply)
		if err == nil {
			msg, err = c.Connection.Read(reading)
		}
	}
	if err != nil {
		c.awaitCalls(ctx)
		if c.stop.Err() != nil {
			err = io.EOF
		}
		return msg, err
	}
	if r, ok := msg.(*jsonrpc.Request); ok {
		c.note(r)
	}
	return msg, nil
}

// twice is the answer to a call with the id of another call that is not answered yet,
// which the SDK would drop without a word.
var twice = &refusal{code: jsonrpc.CodeInvalidRequest, reason: "a call has the id of another call that is not answered yet, and was not executed; give each call an id of its own"}

func (c *graceConn) isDuplicate(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, isOpen := c.open[r.ID]
	return isOpen
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
	if call, isOpen := c.open[id]; err == nil && isOpen && !call.answering {
		c.open[id] = pending{cancelled: true}
	}
}

// awaitCalls waits until all calls are answered that the client did not cancel. If no
// answer is written for too long, it gives the other calls up.
func (c *graceConn) awaitCalls(ctx context.Context) {
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	for len(c.waiting()) > 0 {
		select {
		case <-c.answered:
			timer.Reset(c.wait)
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
			c.giveUp(ctx)
			return
		}
	}
}

// waiting returns the calls that the client waits for.
func (c *graceConn) waiting() (ids []jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.open {
		if !call.cancelled {
			ids = append(ids, id)
		}
	}
	return ids
}

// lastWords is how long the server tries to tell a client which calls it gave up: the
// client may have stopped reading.
const lastWords = time.Second

// giveUp answers the calls that the client still waits for with an error.
func (c *graceConn) giveUp(ctx context.Context) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		for _, id := range c.waiting() {
			why := fmt.Sprintf("the input ended, and this call was not finished within %v; whether it changed something is not known", c.wait)
			_ = c.Write(ctx, &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}})
		}
	}()
	select {
	case <-told:
	case <-time.After(lastWords):
	}
}

// Write writes a message. A call is answered once: what follows is dropped.
func (c *graceConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	var err error
	if c.mayAnswer(r.ID) {
		err = c.Connection.Write(ctx, withCode(r))
	}
	c.mu.Lock()
	delete(c.open, r.ID) // after the answer is written: the server ends when none is open
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return err
}

// mayAnswer reports whether an answer is to be written, and that it is being written. An
// answer without an id is to a message that is no call.
func (c *graceConn) mayAnswer(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call, isOpen := c.open[id]
	if !isOpen || call.cancelled || call.answering {
		return !id.IsValid()
	}
	c.open[id] = pending{answering: true}
	return true
}

// withCode returns the response with a code of JSON-RPC if it is an error: the
// SDK answers with 0 where it has none.
func withCode(r *jsonrpc.Response) *jsonrpc.Response {
	var coded *jsonrpc.Error
	if r.Error == nil || (errors.As(r.Error, &coded) && coded.Code != 0) {
		return r
	}
	return &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.Error.Error()}}
}

func (c *graceConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
