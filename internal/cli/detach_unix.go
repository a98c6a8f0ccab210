// This file starts processes that outlive this one, on Unix.

//go:build unix

package cli

import "syscall"

// detached returns the attributes of a process in a session of its own. It gets no signals of the terminal and
// of the process group of the client that runs a hook.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
