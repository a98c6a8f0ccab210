// This file is for systems without process groups.

//go:build !unix && !windows

package cli

import "syscall"

func detached() *syscall.SysProcAttr { return nil }
