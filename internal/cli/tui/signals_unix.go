//go:build unix

// This file turns signals into notices: a new size, a stop and the continuation after it, and the
// end.

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// noticeBySignal maps signals to notices.
var noticeBySignal = map[os.Signal]notice{
	syscall.SIGWINCH: noticeResize,
	syscall.SIGTSTP:  noticeStop,
	syscall.SIGCONT:  noticeContinue,
	syscall.SIGHUP:   noticeHangup,
	syscall.SIGQUIT:  noticeHangup,
}

// signals receives the signals of this process while the screen is shown.
type signals struct {
	notices    chan notice
	signalChan chan os.Signal
	done       chan struct{}
}

func watchSignals() *signals {
	s := &signals{make(chan notice), make(chan os.Signal, 8), make(chan struct{})}
	for sig := range noticeBySignal {
		signal.Notify(s.signalChan, sig)
	}
	go func() {
		for {
			select {
			case sig := <-s.signalChan:
				select {
				case s.notices <- noticeBySignal[sig]:
				case <-s.done:
					return
				}
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *signals) close() {
	signal.Stop(s.signalChan)
	close(s.done)
}

// stopSelf stops all processes of this job, as Ctrl-Z does, and returns after they continue. If
// no shell controls the job, the system drops SIGTSTP. This process therefore stops itself with
// SIGSTOP, which is never dropped.
func (s *signals) stopSelf() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP) // the other processes
	if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
		<-on
	}
	signal.Notify(s.signalChan, syscall.SIGTSTP)
}
