// This file lets the package compile on systems without process groups, where a child process is started like any
// other.

//go:build !unix && !windows

package cli

import "syscall"

func detachedAttributes() *syscall.SysProcAttr { return nil }
