//go:build !unix

// Systems whose terminals send no signals: their size is looked at again and again.

package tui

import "time"

// signals are came to look at the size.
type signals struct {
	came chan notice
	done chan struct{}
}

func watch() *signals {
	s := &signals{make(chan notice), make(chan struct{})}
	go func() {
		t := time.NewTicker(250 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
			case <-s.done:
				return
			}
			select {
			case s.came <- resizes:
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *signals) close() { close(s.done) }

func (s *signals) stopSelf() {}
