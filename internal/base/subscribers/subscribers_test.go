// This file tests that functions can be added and removed while several goroutines send events.

package subscribers

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

func TestList(t *testing.T) {
	var l List[int]
	l.Send(1)
	var a, b []int
	stopA := l.Add(func(e int) { a = append(a, e) })
	var stopB func()
	stopB = l.Add(func(e int) {
		b = append(b, e)
		stopB() // Stop the function during a Send.
	})
	for e := range 3 {
		l.Send(e)
	}
	stopA()
	stopA()
	l.Send(3)
	if !slices.Equal(a, []int{0, 1, 2}) || !slices.Equal(b, []int{0}) || l.Len() != 0 {
		t.Errorf("received %v and %v, %d functions left; want [0 1 2], [0] and none", a, b, l.Len())
	}
}

func TestSendOneAtATime(t *testing.T) {
	var l List[int]
	var inside atomic.Int32
	calls := 0
	l.Add(func(int) {
		if n := inside.Add(1); n != 1 {
			t.Errorf("%d calls at once", n)
		}
		runtime.Gosched() // Yield, so that another goroutine can call Send.
		calls++
		inside.Add(-1)
	})
	const senders, each = 4, 100
	var done sync.WaitGroup
	for range senders {
		done.Go(func() {
			for e := range each {
				l.Send(e)
			}
		})
	}
	done.Wait()
	if calls != senders*each {
		t.Errorf("%d calls of %d events", calls, senders*each)
	}
}
