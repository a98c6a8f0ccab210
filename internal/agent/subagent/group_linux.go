// This file makes a process end together with its child processes, and together with this program.

package subagent

import (
	"os/exec"
	"syscall"
)

// together starts the process in a process group of its own. When its context is done, the group
// gets SIGTERM. stopAll kills the remaining processes of the group. If this program is killed, the
// process also gets SIGTERM.
func together(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return startGroup(cmd)
}
