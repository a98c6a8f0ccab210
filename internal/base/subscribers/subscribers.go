// Package subscribers stores the functions that receive the events of a store.
package subscribers

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A List contains functions that receive events. The zero List is empty. A List is safe for
// concurrent use.
type List[E any] struct {
	mu      sync.Mutex // guards Add and stop
	fns     atomic.Pointer[[]*func(E)]
	sending sync.Mutex // locked while Send runs
}

// Add adds fn to the list. fn is called until stop is called. A Send that is running during the
// call of stop may still call fn.
func (l *List[E]) Add(fn func(E)) (stop func()) {
	f := &fn
	l.replace(func(fns []*func(E)) []*func(E) { return append(fns, f) })
	return func() {
		l.replace(func(fns []*func(E)) []*func(E) {
			return slices.DeleteFunc(fns, func(g *func(E)) bool { return g == f })
		})
	}
}

// replace publishes an edited copy of the list, because Send iterates over the old slice without a
// lock.
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

// Send calls each function with e, in the order in which the functions were added. Two calls of
// Send do not run at the same time, so that no function is called by two goroutines at once.
func (l *List[E]) Send(e E) {
	l.sending.Lock()
	defer l.sending.Unlock()
	for _, fn := range l.all() {
		(*fn)(e)
	}
}

// Len returns the number of functions.
func (l *List[E]) Len() int { return len(l.all()) }
