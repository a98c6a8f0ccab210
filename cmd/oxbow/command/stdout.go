// Standard output that remembers the error of its first failed write.

package command

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

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
