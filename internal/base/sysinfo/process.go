// This file reports the state of processes.

package sysinfo

// State is the state of a process.
type State int

// The states.
const (
	notKnown State = iota
	Gone           // the process does not exist on this host or is not visible
	running
	Stopped // suspended by a signal or a debugger
)

// Process returns the state of the process with this ID.
func Process(pid int) State {
	if pid <= 0 {
		return notKnown
	}
	return process(pid)
}
