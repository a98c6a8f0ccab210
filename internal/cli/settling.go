// This file collects functions that must be called before a memory is closed.

package cli

import "sync"

// closingCalls collects functions to call before a memory is closed. It is safe for concurrent use.
type closingCalls struct {
	mu  sync.Mutex // guards fns
	fns []func()
}

func (s *closingCalls) add(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fns = append(s.fns, fn)
}

func (s *closingCalls) run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fn := range s.fns {
		fn()
	}
	s.fns = nil
}
