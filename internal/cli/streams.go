// This file implements a standard input whose reads end with the run, and a standard output that
// remembers its first write error.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// interruptibleReader is a reader whose Read returns when ctx ends, even if the underlying reader still
// waits, so that Ctrl-C always works. It must be used by one goroutine at a time.
type interruptibleReader struct {
	ctx    context.Context
	r      io.Reader
	unread []byte // read but not yet returned
	err    error  // returned once left is empty
}

// Read implements [io.Reader].
func (i *interruptibleReader) Read(p []byte) (int, error) {
	if len(i.unread) == 0 && i.err == nil {
		type result struct {
			b   []byte
			err error
		}
		// Use a separate buffer, because an abandoned Read may still write to it.
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

// checkedWriter forwards writes until one fails. Commands ignore write errors. The run reports
// the first one at its end.
type checkedWriter struct {
	w io.Writer

	mu  sync.Mutex // guards err and serializes writes
	err error      // first write error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err // do not write text after a gap
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// joinWriteError returns the error of the run, joined with the first error of a write unless the run's
// error already contains the write error. The error of a closed pipe is ignored, because a reader
// such as head closes the pipe when it has read enough.
func (c *checkedWriter) joinWriteError(run error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	isClosed := errors.Is(c.err, syscall.EPIPE) || errors.Is(c.err, io.ErrClosedPipe)
	isKnown := c.err != nil && errors.Is(run, c.err)
	if isClosed && isKnown {
		return errReported
	}
	isNews := !isClosed && !isKnown
	if c.err == nil || !isNews {
		return run
	}
	err := &hintedError{
		fmt.Errorf("standard output is not complete: %w", c.err),
		"make room, or write to another place",
	}
	if errors.Is(run, errReported) {
		return err // the command's own error has been printed already
	}
	return errors.Join(run, err)
}
