// This file is for systems without process groups.

//go:build !unix && !windows

package cli

import "syscall"

func detachedAttributes() *syscall.SysProcAttr { return nil }
