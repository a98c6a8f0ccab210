// Facts of a process.

package sysinfo

// State is what is known of a process.
type State int

// The states.
const (
	notKnown State = iota
	Gone           // there is no such process on this host, or none that is seen from here
	running
	Stopped // suspended by a signal or a debugger
)

// Process returns the state of the process of that number.
func Process(pid int) State {
	if pid <= 0 {
		return notKnown
	}
	return process(pid)
}
