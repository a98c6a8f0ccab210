// This file starts processes on Unix that outlive this process.

//go:build unix

package cli

import "syscall"

// detachedAttributes returns the attributes for a process in a new session. Such a process receives neither the
// terminal's signals nor the signals to the process group in which this process runs.
func detachedAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
