// This file makes a process end together with its child processes, and together with this program.

package subagent

import (
	"os/exec"
	"syscall"
)

// setProcessGroup starts the process in a process group of its own. When its context is done, the group
// gets SIGTERM. killGroup kills the remaining processes of the group. If this program is killed, the
// process also gets SIGTERM.
func setProcessGroup(cmd *exec.Cmd) (killGroup func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return setGroupCancel(cmd)
}
