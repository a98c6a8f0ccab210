// This file reports the state of processes.

package sysinfo

// State is the state of a process.
type State int

// All states.
const (
	unknownState State = iota
	Gone               // the process does not exist on this host, or is not visible
	running
	Stopped // suspended by a signal or a debugger
)

// ProcessState returns the state of a process.
func ProcessState(pid int) State {
	if pid <= 0 {
		return unknownState
	}
	return processState(pid)
}
