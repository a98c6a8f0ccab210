// Package subscribers keeps a list of functions and calls them all when a store sends an event.
package subscribers

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A List contains functions that receive events of type E. The zero List is empty and ready to use. A List is safe for
// concurrent use.
type List[E any] struct {
	mu             sync.Mutex // held while a receiver function is added to the list or removed from it
	eventFunctions atomic.Pointer[[]*func(E)]
	sendMu         sync.Mutex // held while Send runs, so that events are sent one at a time
}

// Add adds fn to the list. Send calls fn until the caller calls stop. A Send that is already running when stop is
// called may still call fn once.
func (l *List[E]) Add(fn func(E)) (stop func()) {
	f := &fn
	l.replaceSubscribers(func(fns []*func(E)) []*func(E) { return append(fns, f) })
	return func() {
		l.replaceSubscribers(func(fns []*func(E)) []*func(E) {
			return slices.DeleteFunc(fns, func(g *func(E)) bool { return g == f })
		})
	}
}

// replaceSubscribers replaces the list of functions by an edited copy. The old slice stays the same, because a
// running Send iterates over it without a lock.
func (l *List[E]) replaceSubscribers(edit func([]*func(E)) []*func(E)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fns := edit(slices.Clone(l.currentSubscribers()))
	l.eventFunctions.Store(&fns)
}

func (l *List[E]) currentSubscribers() []*func(E) {
	if fns := l.eventFunctions.Load(); fns != nil {
		return *fns
	}
	return nil
}

// Send calls each function with e, in the order in which the functions were added. Only one Send runs at a time, so no
// function is called by two goroutines at the same time.
func (l *List[E]) Send(e E) {
	l.sendMu.Lock()
	defer l.sendMu.Unlock()
	for _, fn := range l.currentSubscribers() {
		(*fn)(e)
	}
}

// Len returns the number of current subscribers.
func (l *List[E]) Len() int { return len(l.currentSubscribers()) }
