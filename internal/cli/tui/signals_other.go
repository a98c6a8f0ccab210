//go:build !unix

// This file is for systems that send no signal when the size of the terminal changes. It checks the size periodically.

package tui

import "time"

// signals replaces the signal about a changed terminal size on systems that do not send this signal. It sends a notice
// at regular intervals, and the screen checks the size of the terminal after each notice.
type signals struct {
	notices chan signalNotice
	done    chan struct{}
}

func watchSignals() *signals {
	s := &signals{make(chan signalNotice), make(chan struct{})}
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
			case s.notices <- noticeTerminalResized:
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *signals) close() { close(s.done) }

func (s *signals) suspendSelf() {}
