// This file lets a run end in an orderly way on Unix if its terminal is closed.

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// shutdownSignals returns the signals after which a run ends in an orderly way, for example by saving an edited text.
// A closed terminal sends SIGHUP, and Ctrl-\ sends SIGQUIT. If SIGHUP is ignored, as under nohup, it stays ignored.
// After the first signal, another SIGQUIT prints the goroutines, as in any Go program.
func shutdownSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
