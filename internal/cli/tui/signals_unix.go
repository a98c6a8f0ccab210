//go:build unix

// Signals: another size, a stop and what follows it, and an end.

package tui

import (
	"os"
	"os/signal"
	"syscall"
)

// noticeOf says what signals are for.
var noticeOf = map[os.Signal]notice{
	syscall.SIGWINCH: resizes,
	syscall.SIGTSTP:  stops,
	syscall.SIGCONT:  goesOn,
	syscall.SIGHUP:   hangsUp,
	syscall.SIGQUIT:  hangsUp,
}

// signals are those that this process receives while it shows a screen.
type signals struct {
	came chan notice
	c    chan os.Signal
	done chan struct{}
}

func watch() *signals {
	s := &signals{make(chan notice), make(chan os.Signal, 8), make(chan struct{})}
	for sig := range noticeOf {
		signal.Notify(s.c, sig)
	}
	go func() {
		for {
			select {
			case sig := <-s.c:
				select {
				case s.came <- noticeOf[sig]:
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
	signal.Stop(s.c)
	close(s.done)
}

// stopSelf stops the processes of this job, as Ctrl-Z does, and returns when they
// go on. The system drops the signal of Ctrl-Z where no shell controls the job: this
// process is stopped by one that is never dropped, and so certainly sent on.
func (s *signals) stopSelf() {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	signal.Ignore(syscall.SIGTSTP)
	_ = syscall.Kill(0, syscall.SIGTSTP) // the others
	if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil {
		<-on
	}
	signal.Notify(s.c, syscall.SIGTSTP)
}
