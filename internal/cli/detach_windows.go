// This file starts processes on Windows that outlive this process.

package cli

import "syscall"

// createNoWindow is the flag CREATE_NO_WINDOW of CreateProcess. The new process gets a console without a window.
const createNoWindow = 0x08000000

// detachedAttributes returns the attributes for starting a process that does not receive Ctrl-C and Ctrl-Break from
// the console of the current process.
func detachedAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow}
}
