// Runs a program as a user whom permissions stop, where the tests are run by the
// superuser, too.

package cli

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// unprivileged becomes the program of its arguments, which may open what the
// modes of files allow and no more.
func unprivileged() {
	runtime.LockOSThread() // what is dropped here, execve drops for the program
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
