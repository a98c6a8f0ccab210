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

// defaultDrainTimeout is how long the server waits for the next answer after its input has ended. It is
// longer than the time that a write waits for the lock of the store.
const defaultDrainTimeout = 2 * time.Minute

// ServeStdio serves the client that writes to in and reads from out, until in or ctx ends. Then it
// finishes and answers all calls that it has read. If no call is answered for [Options.DrainTimeout], it
// answers the remaining calls with an error. ServeStdio returns nil if in has ended, and the error
// of ctx if ctx has ended. If ctx ends while a Read of in blocks, one goroutine remains until the
// Read returns. A line that is not a valid message is answered with an error. If writing to out
// fails, the calls are still executed, and ServeStdio returns the error of writing at the end. Only
// protocol messages are written to out. ServeStdio closes neither in nor out.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	m, err := s.openUnrestrictedServer(stdioDoorName)
	if err != nil {
		return err
	}
	locked := &lockedWriter{writer: out}
	deaf := &discardAfterErrorWriter{writer: locked}
	run := context.WithValue(context.WithoutCancel(ctx), stopContextKey{}, ctx)
	err = m.Run(
		run,
		&drainTransport{
			stopContext:   ctx,
			answerTimeout: cmp.Or(s.opts.DrainTimeout, defaultDrainTimeout),
			replyWriter:   deaf,
			Transport: &mcp.IOTransport{
				Reader: io.NopCloser(newMessageReader(in, deaf)), Writer: nopWriteCloser{deaf},
				MaxLineLength: -1, // the reader messages has its own limit
			},
		},
	)
	return cmp.Or(ctx.Err(), err, deaf.writeError())
}

// discardAfterErrorWriter writes until a write fails, and then discards everything. So the calls of a
// client are executed even if it no longer reads the answers.
type discardAfterErrorWriter struct {
	writer io.Writer

	mu  sync.Mutex // guards err
	err error
}

func (u *discardAfterErrorWriter) Write(p []byte) (int, error) {
	if u.writeError() != nil {
		return len(p), nil
	}
	if _, err := u.writer.Write(p); err != nil {
		u.mu.Lock()
		u.err = fmt.Errorf("writing an answer: %w", err)
		u.mu.Unlock()
	}
	return len(p), nil
}

func (u *discardAfterErrorWriter) writeError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.err
}

// stopContextKey is the context key of the context that ends when the server is to stop.
type stopContextKey struct{}

// withServerStop returns a context that also ends when the server is to stop. It is for
// calls that would delay the stop for long.
func withServerStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if stop, ok := ctx.Value(stopContextKey{}).(context.Context); ok {
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
	stopContext   context.Context // when it ends, no more messages are read
	answerTimeout time.Duration   // how long to wait for the next answer after the end of input
	replyWriter   io.Writer       // for errors that the SDK does not write
}

func (t *drainTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainConn{
		Connection:    c,
		replyWriter:   t.replyWriter,
		stopContext:   t.stopContext,
		answerTimeout: t.answerTimeout,
		openCalls:     map[jsonrpc.ID]pendingCall{},
		answerSent:    make(chan struct{}, 1),
		closed:        make(chan struct{}),
	}, nil
}

type drainConn struct {
	mcp.Connection
	replyWriter   io.Writer
	stopContext   context.Context
	answerTimeout time.Duration
	answerSent    chan struct{} // receives after each answer; capacity 1
	closed        chan struct{} // closed by Close
	closeOnce     sync.Once     // makes sure that closed is closed only once

	mu        sync.Mutex
	openCalls map[jsonrpc.ID]pendingCall // calls that were read and are not answered yet
}

// pendingCall is the state of a call that is not answered yet.
type pendingCall struct {
	isCancelled bool // cancelled by the client
	isAnswering bool // the answer is being written
}

func (c *drainConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.stopContext, cancel)()
	msg, err := c.Connection.Read(reading)
	for err == nil && c.isDuplicate(msg) {
		err = duplicateIDError.writeTo(c.replyWriter)
		if err == nil {
			msg, err = c.Connection.Read(reading)
		}
	}
	if err != nil {
		c.awaitCalls(ctx)
		if c.stopContext.Err() != nil {
			err = io.EOF
		}
		return msg, err
	}
	if r, ok := msg.(*jsonrpc.Request); ok {
		c.recordCall(r)
	}
	return msg, nil
}

// duplicateIDError is the answer to a call with the ID of a call that is still unanswered. The
// SDK would silently drop such a call.
var duplicateIDError = &lineError{
	code: jsonrpc.CodeInvalidRequest,
	reason: "a call has the id of another call that is not answered yet, and was not executed; give each call an id " +
		"of its own",
}

func (c *drainConn) isDuplicate(msg jsonrpc.Message) bool {
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
func (c *drainConn) recordCall(r *jsonrpc.Request) {
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
// up if no answer is written within c.answerTimeout.
func (c *drainConn) awaitCalls(ctx context.Context) {
	timer := time.NewTimer(c.answerTimeout)
	defer timer.Stop()
	for len(c.unansweredCalls()) > 0 {
		select {
		case <-c.answerSent:
			timer.Reset(c.answerTimeout)
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		case <-timer.C:
			c.abandonCalls(ctx)
			return
		}
	}
}

// unansweredCalls returns the IDs of the calls for which the client waits.
func (c *drainConn) unansweredCalls() (ids []jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.openCalls {
		if !call.isCancelled {
			ids = append(ids, id)
		}
	}
	return ids
}

// abandonTimeout is how long the server tries to tell a client which calls it gave up. The client
// may have stopped reading.
const abandonTimeout = time.Second

// abandonCalls answers the calls for which the client still waits with an error.
func (c *drainConn) abandonCalls(ctx context.Context) {
	told := make(chan struct{})
	go func() {
		defer close(told)
		for _, id := range c.unansweredCalls() {
			why := fmt.Sprintf(
				"the input ended, and this call was not finished within %v; whether it changed something is not known",
				c.answerTimeout,
			)
			_ = c.Write(
				ctx,
				&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}},
			)
		}
	}()
	select {
	case <-told:
	case <-time.After(abandonTimeout):
	}
}

// Write writes a message. Each call is answered once; further answers are dropped.
func (c *drainConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	var err error
	if c.claimAnswer(r.ID) {
		err = c.Connection.Write(ctx, withErrorCode(r))
	}
	c.mu.Lock()
	delete(c.openCalls, r.ID) // only after the answer is written, because the server ends when no call is open
	c.mu.Unlock()
	select {
	case c.answerSent <- struct{}{}:
	default:
	}
	return err
}

// claimAnswer reports whether the answer to id should be written, and marks the call as being
// answered. An answer without a valid ID belongs to a message that is not a call, and is
// always written.
func (c *drainConn) claimAnswer(id jsonrpc.ID) bool {
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

// withErrorCode returns the response. An error with code 0 gets the JSON-RPC code for an internal error,
// because the SDK writes code 0 for errors without a code.
func withErrorCode(r *jsonrpc.Response) *jsonrpc.Response {
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

func (c *drainConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
