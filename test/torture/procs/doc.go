// This file documents the campaign with real processes.

// Package procs runs a campaign in which real processes write and read one home, while the campaign kills and pauses
// the processes at random. The processes use the home through standard streams, HTTP and the library.
//
// The campaign controls all processes. Therefore it knows for every change whether it was acknowledged, refused, or in
// progress when its process died. If a process dies, a replacement process repeats the change with the same op ID. The
// campaign checks these guarantees, and reports violations:
//
//   - An acknowledged change is in the log once, under the number that was acknowledged. A refused change is not in the
//     log, and the log contains no other changes.
//   - A read shows every change that was acknowledged before the read began, whichever process made it, and nothing
//     older than the same reader saw before.
//   - No call fails on a healthy disk, and no process ends by itself.
//   - In the end, the entries are the result of the acknowledged changes, and Check finds no problem.
//
// The processes that use the library can be given a fault, to prove that the campaign would notice the fault (see
// [Faults]). The campaign needs signals, so it runs only on Unix.
//
// From the directory test/torture:
//
//	go run . procs --duration 1h
package procs
