// This file tests that changes are stored together if they arrive at the same time.

package jetstream

import (
	"context"
	"runtime"
	"testing"
	"time"
)

func TestGather(t *testing.T) {
	const long = time.Hour
	var c commitQueue
	if !c.addRequest(&commitRequest{}) || c.addRequest(&commitRequest{}) {
		t.Fatal("of two changes the first leads")
	}
	done := make(chan struct{}, 1)
	gather := func(ctx context.Context, n int, d time.Duration) {
		go func() { c.waitForMoreRequests(ctx, n, d); done <- struct{}{} }()
		for waits := d < long; !waits && len(done) == 0; runtime.Gosched() {
			c.mu.Lock()
			waits = c.enoughRequestsWaiting != nil
			c.mu.Unlock()
		}
		if d == long && len(done) > 0 {
			t.Error("gather does not wait")
		}
	}

	// The first batch has two requests. When their callers have sent new requests, and a third caller has too, the
	// committer must stop waiting.
	if n := len(c.takeNext()); n != 2 {
		t.Fatalf("%d changes were taken", n)
	}
	c.addRequest(&commitRequest{})
	gather(t.Context(), 2, long)
	c.addRequest(&commitRequest{})
	c.addRequest(&commitRequest{})
	<-done
	if n := len(c.takeNext()); n != 3 {
		t.Errorf("%d changes were taken, want 3", n)
	}

	// One of the callers returns, and the other does not.
	c.addRequest(&commitRequest{})
	gather(t.Context(), 2, time.Millisecond)
	<-done
	if n := len(c.takeNext()); n != 1 {
		t.Errorf("%d changes were taken, want 1", n)
	}

	// The committer does not wait if the store is closed.
	ctx, cancel := context.WithCancel(t.Context())
	gather(ctx, 2, long)
	cancel()
	<-done

	// If there is only one writer, the committer does not wait for others.
	c.waitForMoreRequests(t.Context(), 1, long)
	c.waitForMoreRequests(t.Context(), 0, long)
	if len(c.takeNext()) != 0 || !c.addRequest(&commitRequest{}) {
		t.Error("the queue is not as before")
	}
}
