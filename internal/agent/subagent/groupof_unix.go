//go:build unix

// This file sends signals to a process group.

package subagent

import (
	"os"
	"os/exec"
	"syscall"
)

func setProcessGroupCancel(cmd *exec.Cmd) (killGroup func()) {
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
			return os.ErrProcessDone
		}
		return nil
	}
	return func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // Ignore the error: usually no process is left.
		}
	}
}
