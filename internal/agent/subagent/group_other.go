//go:build !unix

// This file is for systems without process groups. On these systems, only the process itself is ended, not its
// children.

package subagent

import "os/exec"

// setProcessGroup does nothing, because this system has no process groups. The returned function also does nothing.
func setProcessGroup(*exec.Cmd) (stopAll func()) { return func() {} }
