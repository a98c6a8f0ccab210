// What every campaign reports.

// Package faults holds the campaigns against one store in this process: a disk
// that crashes (Crash), one that fails (Errors), damaged files (Flip), and
// goroutines over several openers of one disk (Linear).
package faults

import (
	"fmt"

	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// Violation is a store that is not as the contract has it.
type Violation struct {
	Seed  uint64
	Where string // the crash, fault or damage that led to it; "" for none
	Err   error
	Steps []workload.Step // of the script, where there is one
}

func (v *Violation) Error() string {
	if v.Where == "" {
		return fmt.Sprintf("seed %d: %v", v.Seed, v.Err)
	}
	return fmt.Sprintf("seed %d, %s: %v", v.Seed, v.Where, v.Err)
}

// Unwrap returns what was wrong.
func (v *Violation) Unwrap() error { return v.Err }

// crashAt names a crash: the operation, and what the disk lost.
func crashAt(op int, image string) string {
	s := fmt.Sprintf("crash at operation %d", op)
	if image != "" {
		s += ", image: " + image
	}
	return s
}
