// This file serves one client over standard input and output, with one JSON message in each
// line.

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

// callTime is how long the server waits for the next answer after its input has ended. It is
// longer than the time that a write waits for the lock of the store.
const callTime = 2 * time.Minute

// ServeStdio serves the client that writes to in and reads from out, until in or ctx ends. Then it
// finishes and answers all calls that it has read. If no call is answered for [Options.Drain], it
// answers the remaining calls with an error. ServeStdio returns nil if in has ended, and the error
// of ctx if ctx has ended. If ctx ends while a Read of in blocks, one goroutine remains until the
// Read returns. A line that is not a valid message is answered with an error. If writing to out
// fails, the calls are still executed, and ServeStdio returns the error of writing at the end. Only
// protocol messages are written to out. ServeStdio closes neither in nor out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := s.openUnlimited(stdioName)
	if err != nil {
		return err
	}
	locked := &lockedWriter{w: out}
	deaf := &failedWriter{w: locked}
	run := context.WithValue(context.WithoutCancel(ctx), stopKey{}, ctx)
	err = m.Run(
		run,
		&drainTransport{stop: ctx, wait: cmp.Or(s.opts.Drain, callTime), reply: deaf, Transport: &mcp.IOTransport{
			Reader: io.NopCloser(newMessages(in, deaf)), Writer: nopWriteCloser{deaf},
			MaxLineLength: -1, // the reader messages has its own limit
		}},
	)
	return cmp.Or(ctx.Err(), err, deaf.failure())
}

// failedWriter writes until a write fails, and then discards everything. So the calls of a
// client are executed even if it no longer reads the answers.
type failedWriter struct {
	w io.Writer

	mu  sync.Mutex // guards err
	err error
}

func (u *failedWriter) Write(p []byte) (int, error) {
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

func (u *failedWriter) failure() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// stopKey is the context key of the context that ends when the server is to stop.
type stopKey struct{}

// endingWithServer returns a context that also ends when the server is to stop. It is for
// calls that would delay the stop for long.
func endingWithServer(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if stop, ok := ctx.Value(stopKey{}).(context.Context); ok {
		context.AfterFunc(stop, cancel)
	}
	return ctx, cancel
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// drainTransport is a transport that delays the end of input until all calls are answered. Otherwise the SDK would
// cancel all running calls at the end of input, and a client that writes calls and closes the pipe would get no
// answers. A call that the client has cancelled is not answered, as the protocol requires.
type drainTransport struct {
	mcp.Transport
	stop  context.Context // when it ends, no more messages are read
	wait  time.Duration   // how long to wait for the next answer after the end of input
	reply io.Writer       // for errors that the SDK does not write
}

func (t *drainTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &graceConn{
		Connection: c,
		reply:      t.reply,
		stop:       t.stop,
		wait:       t.wait,
		openCalls:  map[jsonrpc.ID]pendingCall{},
		answered:   make(chan struct{}, 1),
		closed:     make(chan struct{}),
	}, nil
}

type graceConn struct {
	mcp.Connection
	reply    io.Writer
	stop     context.Context
	wait     time.Duration
	answered chan struct{} // receives after each answer; capacity 1
	closed   chan struct{} // closed by Close
	once     sync.Once     // makes sure that closed is closed only once

	mu        sync.Mutex
	openCalls map[jsonrpc.ID]pendingCall // calls that were read and are not answered yet
}

// pendingCall is the state of a call that is not answered yet.
type pendingCall struct {
	isCancelled bool // cancelled by the client
	isAnswering bool // the answer is being written
}

func (c *graceConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stop, cancel)()
	msg, err := c.Connection.Read(reading)
	for err == nil && c.isDuplicate(msg) {
		err = duplicateID.write(c.reply)
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
		c.recordCall(r)
	}
	return msg, nil
}

// duplicateID is the answer to a call with the ID of a call that is still unanswered. The
// SDK would silently drop such a call.
var duplicateID = &refusal{
	code: jsonrpc.CodeInvalidRequest,
	reason: "a call has the id of another call that is not answered yet, and was not executed; give each call an id " +
		"of its own",
}

func (c *graceConn) isDuplicate(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, isOpen := c.openCalls[r.ID]
	return isOpen
}

// recordCall records a call, or that the client cancels a call.
func (c *graceConn) recordCall(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.openCalls[r.ID] = pendingCall{}
		return
	}
	var p mcp.CancelledParams
	if r.Method != "notifications/cancelled" || json.Unmarshal(r.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.RequestID)
	if err != nil {
		return
	}
	if call, isOpen := c.openCalls[id]; isOpen && !call.isAnswering {
		c.openCalls[id] = pendingCall{isCancelled: true}
	}
}

// awaitCalls waits until all calls are answered that the client has not cancelled. It gives
// up if no answer is written within c.wait.
func (c *graceConn) awaitCalls(ctx context.Context) {
	timer := time.NewTimer(c.wait)
	defer timer.Stop()
	for len(c.unansweredCalls()) > 0 {
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

// unansweredCalls returns the IDs of the calls for which the client waits.
func (c *graceConn) unansweredCalls() (ids []jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.openCalls {
		if !call.isCancelled {
			ids = append(ids, id)
		}
	}
	return ids
}

// lastWords is how long the server tries to tell a client which calls it gave up. The client
// may have stopped reading.
const lastWords = time.Second

// giveUp answers the calls for which the client still waits with an error.
func (c *graceConn) giveUp(ctx context.Context) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		for _, id := range c.unansweredCalls() {
			why := fmt.Sprintf(
				"the input ended, and this call was not finished within %v; whether it changed something is not known",
				c.wait,
			)
			_ = c.Write(
				ctx,
				&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}},
			)
		}
	}()
	select {
	case <-told:
	case <-time.After(lastWords):
	}
}

// Write writes a message. Each call is answered once; further answers are dropped.
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
	delete(c.openCalls, r.ID) // only after the answer is written, because the server ends when no call is open
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
	return err
}

// mayAnswer reports whether the answer to id should be written, and marks the call as being
// answered. An answer without a valid ID belongs to a message that is not a call, and is
// always written.
func (c *graceConn) mayAnswer(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call, isOpen := c.openCalls[id]
	isWaiting := isOpen && !call.isCancelled && !call.isAnswering
	if !isWaiting {
		return !id.IsValid()
	}
	c.openCalls[id] = pendingCall{isAnswering: true}
	return true
}

// withCode returns the response. An error with code 0 gets the JSON-RPC code for an internal error,
// because the SDK writes code 0 for errors without a code.
func withCode(r *jsonrpc.Response) *jsonrpc.Response {
	var coded *jsonrpc.Error
	if r.Error == nil {
		return r
	}
	if errors.As(r.Error, &coded) && coded.Code != 0 {
		return r
	}
	return &jsonrpc.Response{
		ID:    r.ID,
		Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.Error.Error()},
	}
}

func (c *graceConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
