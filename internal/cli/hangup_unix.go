// This file ends a run in order when its terminal is closed, on Unix.

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// endSignals returns the signals after which a run ends in order, such as with the text of an
// edit kept. A closed terminal sends SIGHUP. Under nohup it is ignored, and stays so.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
