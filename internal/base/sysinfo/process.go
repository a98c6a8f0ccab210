// This file reports the state of processes.

package sysinfo

// State is the state of a process.
type State int

// All states.
const (
	notKnown State = iota
	Gone           // the process does not exist on this host, or is not visible
	running
	Stopped // suspended by a signal or a debugger
)

// Process returns the state of a process.
func Process(pid int) State {
	if pid <= 0 {
		return notKnown
	}
	return process(pid)
}
