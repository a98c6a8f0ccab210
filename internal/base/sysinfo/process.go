// This file reports whether a process runs.

package sysinfo

// ProcessStatus is the state of a process.
type ProcessStatus int

// These are the states of a process of the operating system.
const (
	processUnknown ProcessStatus = iota
	ProcessGone                  // No process with this ID exists on this host or is visible to this user.
	processRunning
	ProcessStopped // A signal or a debugger has suspended the process.
)

// ProcessState returns the state of a process.
func ProcessState(pid int) ProcessStatus {
	if pid <= 0 {
		return processUnknown
	}
	return processState(pid)
}
