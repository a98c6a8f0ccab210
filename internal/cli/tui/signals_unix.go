//go:build unix

// This file converts signals to notices: the terminal has a new size, and the process is to be suspended, continued or
// ended.

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// noticeBySignal contains the notice that each signal causes.
var noticeBySignal = map[os.Signal]signalNotice{
	syscall.SIGWINCH: noticeTerminalResized,
	syscall.SIGTSTP:  noticeSuspendProcess,
	syscall.SIGCONT:  noticeProcessContinued,
	syscall.SIGHUP:   noticeTerminalClosed,
	syscall.SIGQUIT:  noticeTerminalClosed,
}

// signals receives the signals to this process while the screen is shown.
type signals struct {
	notices    chan signalNotice
	signalChan chan os.Signal
	done       chan struct{}
}

func watchSignals() *signals {
	s := &signals{make(chan signalNotice), make(chan os.Signal, 8), make(chan struct{})}
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

// suspendSelf suspends all processes of this shell job, as Ctrl-Z does, and returns when they continue. The system
// drops the signal SIGTSTP if no shell controls the job. Therefore this process suspends itself by SIGSTOP, which
// is never dropped.
func (s *signals) suspendSelf() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	signal.Ignore(syscall.SIGTSTP)
	// Suspend all other processes of this shell job. This process ignores the signal.
	_ = syscall.Kill(0, syscall.SIGTSTP)
	if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
		<-on
	}
	signal.Notify(s.signalChan, syscall.SIGTSTP)
}
