//go:build unix

// This file contains a function that suspends a child process, for tests on Unix.

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// stop suspends a child process, and returns when the process is suspended.
func stop(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(p.Pid, &ws, syscall.WUNTRACED, nil); err != nil {
		return err
	}
	if !ws.Stopped() {
		return fmt.Errorf("it ended instead of stopping")
	}
	return nil
}
