// This file reports the state of processes.

package sysinfo

// ProcessStatus is the state of a process.
type ProcessStatus int

// All states.
const (
	stateUnknown ProcessStatus = iota
	StateGone                  // the process does not exist on this host, or is not visible
	stateRunning
	StateStopped // suspended by a signal or a debugger
)

// ProcessState returns the state of a process.
func ProcessState(pid int) ProcessStatus {
	if pid <= 0 {
		return stateUnknown
	}
	return processState(pid)
}
