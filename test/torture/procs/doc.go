// The campaign with real processes.

// Package procs is the campaign with real processes: writers and readers of one
// home, each a process of its own, through standard streams, HTTP and the
// library, while processes are killed and stopped at random.
//
// The campaign drives all of them, so it knows of every change whether it was
// acknowledged, refused, or under way when its process died. A change whose
// process died is asked for again, with the same op id, of the process that
// takes its place. These hold all the time, or are reported as violations:
//
//   - an acknowledged change is in the log once, under the number that was
//     acknowledged; one that was refused is not there, and nothing else is
//   - a read shows every change acknowledged before it began, whoever made it,
//     and nothing that is older than what the same reader saw before
//   - no call fails on a healthy disk, no process ends by itself
//   - in the end the entries are what the acknowledged changes add up to, and
//     Check has nothing to say
//
// A fault can be put into the processes that use the library, to prove that the
// campaign would see it: see [Faults]. It needs signals, so it is for Unix.
//
// From the directory test/torture:
//
//	go run . procs --duration 1h
package procs
