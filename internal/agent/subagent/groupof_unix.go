//go:build unix

// This file sends signals to a process group.

package subagent

import (
	"os"
	"os/exec"
	"syscall"
)

// setProcessGroupCancel configures cmd so that the end of its context sends SIGTERM to the whole process group. The
// process of cmd must be the leader of this group. The returned function killGroup sends SIGKILL to the group.
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
