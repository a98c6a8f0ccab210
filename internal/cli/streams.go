// This file implements a standard input whose pending reads end when the command ends. It also implements a standard
// output that remembers its first write error.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// interruptibleReader is a reader whose Read returns when ctx ends, even if the underlying reader still waits.
// Therefore Ctrl-C always works. Only one goroutine may use it at a time.
type interruptibleReader struct {
	ctx    context.Context
	r      io.Reader
	unread []byte // bytes that were read and not returned yet
	err    error  // error to return after all bytes in unread were returned
}

// Read implements [io.Reader]. If ctx ends before any bytes arrive, Read returns the error of ctx.
func (i *interruptibleReader) Read(p []byte) (int, error) {
	if len(i.unread) == 0 && i.err == nil {
		type result struct {
			b   []byte
			err error
		}
		// Read into a separate buffer, because a Read that is abandoned when ctx ends may still write to the buffer.
		done := make(chan result, 1)
		go func() {
			b := make([]byte, 64<<10)
			n, err := i.r.Read(b)
			done <- result{b[:n], err}
		}()
		select {
		case r := <-done:
			i.unread, i.err = r.b, r.err
		case <-i.ctx.Done():
			i.err = i.ctx.Err()
		}
	}
	n := copy(p, i.unread)
	i.unread = i.unread[n:]
	if n == 0 && len(p) > 0 {
		return 0, i.err
	}
	return n, nil
}

// errorRecordingWriter passes on writes until one fails. Commands ignore write errors, and the run reports the first
// one at its end.
type errorRecordingWriter struct {
	w io.Writer

	mu  sync.Mutex // guards err and serializes writes
	err error      // first write error
}

func (c *errorRecordingWriter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err // Write nothing more, so that the output stays without a gap.
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// joinWriteError returns runErr, the error of a run, joined with the first error in writing the standard output. The
// write error is left out if runErr already contains it, or if it says that a pipe was closed. A reader such as head
// closes the pipe when it has read enough. If runErr contains the error about a closed pipe, joinWriteError returns
// errAlreadyPrinted, so that the error is not printed.
func (c *errorRecordingWriter) joinWriteError(runErr error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	isClosed := errors.Is(c.err, syscall.EPIPE) || errors.Is(c.err, io.ErrClosedPipe)
	isKnown := c.err != nil && errors.Is(runErr, c.err)
	if isClosed && isKnown {
		return errAlreadyPrinted
	}
	isNews := !isClosed && !isKnown
	if c.err == nil || !isNews {
		return runErr
	}
	err := &hintedError{
		fmt.Errorf("standard output is not complete: %w", c.err),
		"make room, or write to another place",
	}
	if errors.Is(runErr, errAlreadyPrinted) {
		return err // The command has already printed its own error.
	}
	return errors.Join(runErr, err)
}
