// This file documents the campaign with system calls.

// Package syscalls is the campaign that kills a process at each of the process's system calls, and
// makes each system call fail.
//
// A child process runs a short session on a store: it opens the store, remembers, forgets, undoes,
// compacts and closes, and prints the outcome of each step. For every N, strace kills the process
// with SIGKILL as it enters the Nth call of a kind, or makes that call fail. Afterwards, the store
// must contain the acknowledged steps. In addition, it may contain the step that was in progress,
// and steps with an unknown outcome. It must not contain refused steps. The store must accept
// another change, after which Check must find no problem.
//
// The data that a killed process wrote stays in the page cache, so this campaign tests the
// death of a process. The campaign with crashing disks tests a crash of the machine.
//
// The campaign needs Linux and strace. In the directory test/torture:
//
//	go run . syscalls
package syscalls
