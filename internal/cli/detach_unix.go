// This file starts processes that outlive this one, on Unix.

//go:build unix

package cli

import "syscall"

// detachedAttributes returns the attributes for a process in a new session. Such a process does not
// receive the terminal's signals, nor signals to the client's process group, in which the hook
// runs.
func detachedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
