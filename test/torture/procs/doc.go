// This file documents the torture test with several processes, which are killed at random.

// Package procs runs a campaign in which real processes write and read the same home, while the campaign kills and
// pauses the processes at random times. The processes use the home through standard streams, HTTP and the library.
//
// The campaign controls all processes. Therefore it knows for each change whether the change was acknowledged,
// refused, or in progress when the process died. If a process dies, the process that replaces it repeats the change
// with the same op ID. The campaign checks these guarantees, and reports violations:
//
//   - An acknowledged change is in the log exactly once, with the acknowledged number. A refused change is not in the
//     log, and the log contains no other changes.
//   - A read shows each change that was acknowledged before the read began, regardless of the process that made the
//     change. It shows nothing older than earlier reads of the same reader.
//   - No call fails on a healthy disk, and no process ends by itself.
//   - At the end, the entries are the result of the acknowledged changes, and Check finds no problem.
//
// A fault can be added to the processes that use the library, to prove that the campaign notices the fault (see
// [LockAndFileFaults]). The campaign needs signals, so it runs only on Unix.
//
// This command runs the campaign in the directory test/torture:
//
//	go run . procs --duration 1h
package procs
