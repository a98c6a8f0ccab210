// Package subscribers keeps a list of functions, and calls them when a store reports an event.
package subscribers

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A List contains functions that receive events. The zero List is empty. A List is safe for
// concurrent use.
type List[E any] struct {
	mu        sync.Mutex // guards Add and stop
	functions atomic.Pointer[[]*func(E)]
	sendMu    sync.Mutex // locked while Send runs
}

// Add adds fn to the list. fn is called until stop is called. A Send that is running during the
// call of stop may still call fn.
func (l *List[E]) Add(fn func(E)) (stop func()) {
	f := &fn
	l.replaceFunctions(func(fns []*func(E)) []*func(E) { return append(fns, f) })
	return func() {
		l.replaceFunctions(func(fns []*func(E)) []*func(E) {
			return slices.DeleteFunc(fns, func(g *func(E)) bool { return g == f })
		})
	}
}

// replaceFunctions publishes an edited copy of the list, because Send iterates over the old slice without a
// lock.
func (l *List[E]) replaceFunctions(edit func([]*func(E)) []*func(E)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fns := edit(slices.Clone(l.currentFunctions()))
	l.functions.Store(&fns)
}

func (l *List[E]) currentFunctions() []*func(E) {
	if fns := l.functions.Load(); fns != nil {
		return *fns
	}
	return nil
}

// Send calls each function with e, in the order in which the functions were added. Two calls of
// Send do not run at the same time, so that no function is called by two goroutines at once.
func (l *List[E]) Send(e E) {
	l.sendMu.Lock()
	defer l.sendMu.Unlock()
	for _, fn := range l.currentFunctions() {
		(*fn)(e)
	}
}

// Len returns the number of functions.
func (l *List[E]) Len() int { return len(l.currentFunctions()) }
