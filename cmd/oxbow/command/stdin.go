// Standard input that ends when the run does.

package command

import (
	"context"
	"io"
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
