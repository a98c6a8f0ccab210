// This file collects functions that must be called before a memory is closed.

package cli

import "sync"

// closeHooks collects functions to call before a memory is closed. It is safe for concurrent use.
type closeHooks struct {
	mu    sync.Mutex // guards hooks
	hooks []func()
}

func (s *closeHooks) add(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, fn)
}

func (s *closeHooks) run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fn := range s.hooks {
		fn()
	}
	s.hooks = nil
}
