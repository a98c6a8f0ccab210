//go:build !unix

// This file is for systems without terminal signals. It checks the size of the terminal
// periodically.

package tui

import "time"

// signals sends notices to check the size.
type signals struct {
	notices chan notice
	done    chan struct{}
}

func watchSignals() *signals {
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
			case s.notices <- noticeResize:
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *signals) close() { close(s.done) }

func (s *signals) stopSelf() {}
