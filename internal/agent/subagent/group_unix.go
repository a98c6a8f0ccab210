//go:build unix && !linux

// This file makes a process end together with its child processes.

package subagent

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts the process in a process group of its own. When its context is done, the group
// gets SIGTERM. stopAll kills the remaining processes of the group.
func setProcessGroup(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return setGroupCancel(cmd)
}
