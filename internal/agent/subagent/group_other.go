//go:build !unix

// The fallback where there are no groups of processes: the process alone
// is ended.

package subagent

import "os/exec"

func together(*exec.Cmd) (stopAll func()) { return func() {} }
