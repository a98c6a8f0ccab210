// This file runs a program without the superuser's privileges, even if the superuser runs the tests.

package cli

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// unprivileged replaces this process by the program in its arguments. The program does not have the privilege to
// ignore file permissions.
func unprivileged() {
	runtime.LockOSThread() // Stay on this thread, whose privileges execve keeps.
	if os.Geteuid() == 0 {
		for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
				fmt.Fprintln(os.Stderr, "unprivileged: dropping a capability:", err)
				os.Exit(3)
			}
		}
	}
	path, err := execPath(os.Args[1], os.Getenv("PATH"))
	if err == nil {
		err = syscall.Exec(path, os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "unprivileged:", err)
	os.Exit(3)
}
