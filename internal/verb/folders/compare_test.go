// If a disk does not respond, reading a folder on it may take forever. This file tests that the caller stops waiting
// after a timeout.

package folders

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), listTimeout)
		defer stop()
		answer := make(chan int)
		start := time.Now()
		_, err := runWithTimeout(ctx, func() (int, error) { return <-answer, nil })
		if waited := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || waited != listTimeout {
			t.Errorf("without an answer: %v after %v, want a deadline after %v", err, waited, listTimeout)
		}
		answer <- 1
		if got, err := runWithTimeout(t.Context(), func() (int, error) { return 7, nil }); got != 7 || err != nil {
			t.Errorf("waitFor() = %d, %v; want 7", got, err)
		}
	})
}
