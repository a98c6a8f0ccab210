//go:build !unix

// This file is for systems without process groups, where only the process itself is ended.

package subagent

import "os/exec"

func setProcessGroup(*exec.Cmd) (stopAll func()) { return func() {} }
