// This file serves one client over standard input and output. Each line contains one JSON message.

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

// defaultDrainTimeout is the default of [Options.DrainTimeout]. It is longer than the time that a write waits for the
// store's lock.
const defaultDrainTimeout = 2 * time.Minute

// ServeStdio serves a single client. It reads the client's messages from the reader in and writes the answers to the
// writer out. It runs until the input ends or ctx is done. Before ServeStdio returns, it answers all calls that were
// read. If the server sends no answer for [Options.DrainTimeout], ServeStdio answers the remaining calls with an error.
//
// ServeStdio returns nil if the input has ended, and the error of ctx if ctx is done. If a Read of the input blocks
// when ctx is done, one goroutine remains until this Read returns. A line that is not a valid message is answered with
// an error. If writing to the output fails, the calls are still executed, and ServeStdio returns the write error at the
// end. It writes only protocol messages to the output. It does not close the input or the output.
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
		&drainingTransport{
			stopContext:   ctx,
			answerTimeout: cmp.Or(s.serverOptions.DrainTimeout, defaultDrainTimeout),
			replyWriter:   deaf,
			Transport: &mcp.IOTransport{
				Reader: io.NopCloser(newMessageReader(in, deaf)), Writer: nopWriteCloser{deaf},
				MaxLineLength: -1, // The message reader limits the length of lines itself.
			},
		},
	)
	return cmp.Or(ctx.Err(), err, deaf.firstWriteError())
}

// discardAfterErrorWriter writes until a write fails, and then discards all data without an error. Therefore the calls
// of a client are still executed if the client no longer reads the answers.
type discardAfterErrorWriter struct {
	writer io.Writer

	mu         sync.Mutex // guards firstError
	firstError error
}

func (u *discardAfterErrorWriter) Write(p []byte) (int, error) {
	if u.firstWriteError() != nil {
		return len(p), nil
	}
	if _, err := u.writer.Write(p); err != nil {
		u.mu.Lock()
		u.firstError = fmt.Errorf("writing an answer: %w", err)
		u.mu.Unlock()
	}
	return len(p), nil
}

func (u *discardAfterErrorWriter) firstWriteError() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.firstError
}

// stopContextKey is the key of a context value. The value is another context, which is done when the server must stop.
type stopContextKey struct{}

// contextUntilServerStop returns a context that is also done when the server must stop. Calls that take long use this
// context, so that they do not delay the end of the server.
func contextUntilServerStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if stop, ok := ctx.Value(stopContextKey{}).(context.Context); ok {
		context.AfterFunc(stop, cancel)
	}
	return ctx, cancel
}

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// drainingTransport is a transport that reports the end of input only after all calls are answered. Otherwise the SDK
// would cancel all running calls at the end of input. A client that writes its calls and then closes the pipe would
// get no answers. A call that the client has cancelled is not answered, as the protocol requires.
type drainingTransport struct {
	mcp.Transport
	stopContext   context.Context // no more messages are read from the client after this context is done
	answerTimeout time.Duration   // maximum time to wait for the next answer after the end of input
	replyWriter   io.Writer       // receives the error answers to calls that the SDK would drop without an answer
}

func (t *drainingTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainingConnection{
		Connection:         c,
		replyWriter:        t.replyWriter,
		stopContext:        t.stopContext,
		answerTimeout:      t.answerTimeout,
		unansweredCallByID: map[jsonrpc.ID]unansweredCall{},
		answerSent:         make(chan struct{}, 1),
		closed:             make(chan struct{}),
	}, nil
}

type drainingConnection struct {
	mcp.Connection
	replyWriter   io.Writer
	stopContext   context.Context
	answerTimeout time.Duration
	answerSent    chan struct{} // receives a value after each answer (capacity 1)
	closed        chan struct{} // closed by Close
	closeOnce     sync.Once     // ensures that closed is closed only once

	mu                 sync.Mutex
	unansweredCallByID map[jsonrpc.ID]unansweredCall // calls that were read but not answered yet
}

// unansweredCall is the state of a call that was not answered yet.
type unansweredCall struct {
	isCancelled     bool // the client has cancelled the call
	isAnswerStarted bool // the answer is being written now
}

func (c *drainingConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
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

// duplicateIDError is the answer to a call that has the same ID as an earlier call that was not answered yet. The SDK
// would drop the later call without an answer.
var duplicateIDError = &messageError{
	jsonrpcCode: jsonrpc.CodeInvalidRequest,
	reason: "a call has the id of another call that is not answered yet, and was not executed; give each call an id " +
		"of its own",
}

func (c *drainingConnection) isDuplicate(msg jsonrpc.Message) bool {
	r, ok := msg.(*jsonrpc.Request)
	if !ok || !r.IsCall() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, isOpen := c.unansweredCallByID[r.ID]
	return isOpen
}

// recordCall records a call that was read from the client. If r is the client's notice that it cancels an earlier call,
// recordCall marks this call as cancelled. It ignores the notice if the call is not waiting for an answer, or if the
// server has already started to write the answer.
func (c *drainingConnection) recordCall(r *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.IsCall() {
		c.unansweredCallByID[r.ID] = unansweredCall{}
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
	if call, isOpen := c.unansweredCallByID[id]; isOpen && !call.isAnswerStarted {
		c.unansweredCallByID[id] = unansweredCall{isCancelled: true}
	}
}

// awaitCalls waits until all calls are answered, except the calls that the client has cancelled. If no answer is
// written for the time c.answerTimeout, it answers the open calls with an error and returns. It also returns when the
// connection is closed or ctx is done.
func (c *drainingConnection) awaitCalls(ctx context.Context) {
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

// unansweredCalls returns the IDs of the calls whose answers the client still expects.
func (c *drainingConnection) unansweredCalls() (ids []jsonrpc.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, call := range c.unansweredCallByID {
		if !call.isCancelled {
			ids = append(ids, id)
		}
	}
	return ids
}

// abandonedCallNoticeTimeout is the maximum time for telling the client which calls were given up. It is short because
// the client may have stopped reading.
const abandonedCallNoticeTimeout = time.Second

// abandonCalls answers all unanswered calls of the client with an error.
func (c *drainingConnection) abandonCalls(ctx context.Context) {
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
	case <-time.After(abandonedCallNoticeTimeout):
	}
}

// Write writes a message. It drops a response to a call that was already answered or cancelled.
func (c *drainingConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	var err error
	if c.tryStartCallAnswer(r.ID) {
		err = c.Connection.Write(ctx, withErrorCode(r))
	}
	c.mu.Lock()
	// Remove the call only after its answer was written, because the server ends when no call is open.
	delete(c.unansweredCallByID, r.ID)
	c.mu.Unlock()
	select {
	case c.answerSent <- struct{}{}:
	default:
	}
	return err
}

// tryStartCallAnswer reports whether the answer to the call with this ID should be written. If the call is waiting for
// its answer, tryStartCallAnswer marks the call as being answered and returns true. If the call is unknown or
// cancelled, or if another answer was started, the result is false. A message without a valid ID is not the answer to a
// particular call, and should always be written. The result is then true.
func (c *drainingConnection) tryStartCallAnswer(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call, isOpen := c.unansweredCallByID[id]
	isWaiting := isOpen && !call.isCancelled && !call.isAnswerStarted
	if !isWaiting {
		return !id.IsValid()
	}
	c.unansweredCallByID[id] = unansweredCall{isAnswerStarted: true}
	return true
}

// withErrorCode returns the response. If the response's error has the code 0, it returns a copy with the JSON-RPC code
// for internal errors, because the SDK uses 0 for errors without a code.
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

func (c *drainingConnection) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return c.Connection.Close()
}
