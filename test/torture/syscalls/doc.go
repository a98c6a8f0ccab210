// The campaign with system calls.

// Package syscalls is the campaign that kills a process at each of its system
// calls, and makes each of them fail.
//
// A child process carries out a short session on a store: it opens it,
// remembers, forgets, undoes, compacts, closes, and says after each step how it
// went. strace ends it with SIGKILL as it enters the Nth call of one kind, or
// makes that call fail, for every N. Whatever happened, the store must then
// hold what the acknowledged steps add up to; beside it only the step that was
// under way, or whose outcome was said to be unknown, may show. A step that was
// refused must not. The store must take another change, and Check must find
// nothing wrong after it.
//
// Killing a process keeps what it wrote in the page cache: this proves what
// happens when a process dies. What happens when the machine does is for the
// campaign on crashing disks.
//
// It needs Linux and strace. From the directory test/torture:
//
//	go run . syscalls
package syscalls
