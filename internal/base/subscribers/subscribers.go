// Package subscribers stores the functions that receive the events of a store.
package subscribers

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A List holds functions that receive events. Its zero value is empty. It is
// safe for concurrent use.
type List[E any] struct {
	mu      sync.Mutex // guards Add and stop
	fns     atomic.Pointer[[]*func(E)]
	sending sync.Mutex // held by a Send
}

// Add adds fn to the list until stop is called. A Send that is running when stop is called
// may still call fn.
func (l *List[E]) Add(fn func(E)) (stop func()) {
	f := &fn
	l.replace(func(fns []*func(E)) []*func(E) { return append(fns, f) })
	return func() {
		l.replace(func(fns []*func(E)) []*func(E) {
			return slices.DeleteFunc(fns, func(g *func(E)) bool { return g == f })
		})
	}
}

// replace publishes an edited copy. Send iterates over the old slice without a lock.
func (l *List[E]) replace(edit func([]*func(E)) []*func(E)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fns := edit(slices.Clone(l.all()))
	l.fns.Store(&fns)
}

func (l *List[E]) all() []*func(E) {
	if fns := l.fns.Load(); fns != nil {
		return *fns
	}
	return nil
}

// Send calls each function with e, in the order in which they were added. Calls of Send run
// one after the other, so that no function is called by two goroutines at once.
func (l *List[E]) Send(e E) {
	l.sending.Lock()
	defer l.sending.Unlock()
	for _, fn := range l.all() {
		(*fn)(e)
	}
}

// Len returns the number of functions.
func (l *List[E]) Len() int { return len(l.all()) }
