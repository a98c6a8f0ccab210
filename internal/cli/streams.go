// Standard input that ends when the run does, and standard output that keeps the
// error of its first failed write.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// interruptible is a reader whose Read returns when ctx ends, though the one
// below may wait on: a person who types Ctrl-C must not be kept. It is for one
// goroutine at a time.
type interruptible struct {
	ctx  context.Context
	r    io.Reader
	left []byte // read and not handed out
	err  error  // to return once left is empty
}

// Read implements [io.Reader].
func (i *interruptible) Read(p []byte) (int, error) {
	if len(i.left) == 0 && i.err == nil {
		type result struct {
			b   []byte
			err error
		}
		// A buffer of its own, since a Read that was given up may still
		// write to it.
		done := make(chan result, 1)
		go func() {
			b := make([]byte, 64<<10)
			n, err := i.r.Read(b)
			done <- result{b[:n], err}
		}()
		select {
		case r := <-done:
			i.left, i.err = r.b, r.err
		case <-i.ctx.Done():
			i.err = i.ctx.Err()
		}
	}
	n := copy(p, i.left)
	i.left = i.left[n:]
	if n == 0 && len(p) > 0 {
		return 0, i.err
	}
	return n, nil
}

// checkedWriter passes writes on until one fails. Commands print without looking
// at errors; the run reports the first one at its end.
type checkedWriter struct {
	w io.Writer

	mu  sync.Mutex // guards err, and lets one caller write at a time
	err error      // of the first write that failed
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err // text after a gap is worse than none
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// outcome returns the error of the run, with that of the first write that failed
// if the run does not have it. A pipe whose reader closed it is no error to tell:
// head, for example, has what it wants.
func (c *checkedWriter) outcome(run error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	closed := errors.Is(c.err, syscall.EPIPE) || errors.Is(c.err, io.ErrClosedPipe)
	known := c.err != nil && errors.Is(run, c.err)
	if closed && known {
		return errReported
	}
	if c.err == nil || closed || known {
		return run
	}
	err := &hinted{fmt.Errorf("standard output is not complete: %w", c.err), "make room, or write to another place"}
	if errors.Is(run, errReported) {
		return err // reported, too
	}
	return errors.Join(run, err)
}
