// This file reports whether a process runs.

package sysinfo

// ProcessStatus is the state of a process.
type ProcessStatus int

// These are the states of a process.
const (
	stateUnknown ProcessStatus = iota
	StateGone                  // The process does not exist on this host, or is not visible.
	stateRunning
	StateStopped // A signal or a debugger has suspended the process.
)

// ProcessState returns the state of a process.
func ProcessState(pid int) ProcessStatus {
	if pid <= 0 {
		return stateUnknown
	}
	return processState(pid)
}
