// This file ensures that a sub-agent's process and its children end together, and also end with this program.

package subagent

import (
	"os/exec"
	"syscall"
)

// setProcessGroup configures cmd to run in its own process group. When the context of cmd is done, the group receives
// SIGTERM. If this program is killed, the process of cmd also receives SIGTERM. The returned function killGroup kills
// all remaining processes of the group.
func setProcessGroup(cmd *exec.Cmd) (killGroup func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return setProcessGroupCancel(cmd)
}
