// This file documents the campaign with real processes.

// Package procs runs the campaign with real processes: writers and readers of one home use standard
// streams, HTTP and the library, while processes are killed and paused at random.
//
// The campaign controls all processes. Therefore it knows for every change whether it was
// acknowledged, refused, or in progress when its process died. If a process dies, the process that
// replaces it repeats the change with the same op ID. The campaign checks these guarantees, and
// reports violations:
//
//   - An acknowledged change is in the log once, under the number that was acknowledged. A refused change is not in the
//     log, and the log contains no other changes.
//   - A read shows every change that was acknowledged before the read began, whichever process made it, and nothing
//     older than the same reader saw before.
//   - No call fails on a healthy disk, and no process ends by itself.
//   - In the end, the entries are the result of the acknowledged changes, and Check finds no problem.
//
// A fault can be put into the processes that use the library, to prove that the campaign would
// notice it: see [Faults]. The campaign needs signals, so it runs only on Unix.
//
// From the directory test/torture:
//
//	go run . procs --duration 1h
package procs
