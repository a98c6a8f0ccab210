// Ends a process with those that it has started, and with this one.

package subagent

import (
	"os/exec"
	"syscall"
)

// together puts the process into a group of its own, which is asked to end when
// its context does. The call that it returns ends what is left of the group.
// When this program is killed, the process is asked to end too.
func together(cmd *exec.Cmd) (stopAll func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return groupOf(cmd)
}
