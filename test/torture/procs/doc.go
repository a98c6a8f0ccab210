// This file documents the campaign with real processes.

// Package procs is the campaign with real processes: writers and readers of one home use
// standard streams, HTTP and the library, while processes are killed and paused at random.
//
// The campaign controls all processes, so it knows for every change whether it was
// acknowledged, refused, or in progress when its process died. If a process dies, its change
// is repeated with the same op ID by the process that replaces it. The campaign checks these
// guarantees, and reports violations:
//
//   - an acknowledged change is in the log once, under the number that was
//     acknowledged; one that was refused is not there, and nothing else is
//   - a read shows every change acknowledged before it began, whoever made it,
//     and nothing that is older than what the same reader saw before
//   - no call fails on a healthy disk, no process ends by itself
//   - in the end the entries are what the acknowledged changes add up to, and
//     Check has nothing to say
//
// A fault can be put into the processes that use the library, to prove that the campaign
// would notice: see [Faults]. The campaign needs signals, so it runs on Unix only.
//
// From the directory test/torture:
//
//	go run . procs --duration 1h
package procs
