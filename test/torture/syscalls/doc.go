// This file documents the torture test that makes system calls fail.

// Package syscalls runs a campaign that kills a process at each of the process's system calls, and makes each system
// call fail.
//
// A child process runs a short session on a store. It opens the store, remembers, forgets, undoes, compacts, closes
// the store, and prints the outcome of each step. For each number N, strace kills the process with SIGKILL when the
// Nth system call of a kind begins, or makes this system call fail. Afterwards, the store must contain the
// acknowledged steps. It may also contain the step that was in progress, and steps with an unknown outcome. It must
// not contain refused steps. It must accept another change, and Check must find no problem after this change.
//
// The data that a killed process wrote stays in the page cache, so this campaign tests the death of a process. The
// campaign with crashing disks tests the crash of a machine.
//
// The campaign needs Linux and strace. This command runs it in the directory test/torture:
//
//	go run . syscalls
package syscalls
