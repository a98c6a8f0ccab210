//go:build unix && !linux

// This file ensures that a sub-agent's process and its children end together.

package subagent

import (
	"os/exec"
	"syscall"
)

// setProcessGroup configures cmd to run in its own process group. When cmd's context is done, the group receives
// SIGTERM. stopAll kills all remaining processes of the group.
func setProcessGroup(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return setProcessGroupCancel(cmd)
}
