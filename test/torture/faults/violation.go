// This file defines the report about a store that broke one of its guarantees, for example that no acknowledged change
// is lost.

// Package faults contains campaigns, which are long randomized tests of a store. [FindCrashViolation] lets the
// simulated disk crash. [FindErrors] lets disk operations fail. [DamageStores] damages files. [CheckLinearHistory] runs
// goroutines in several simulated processes. All of them run in a single operating system process.
package faults

import (
	"fmt"

	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// Violation reports that a store broke a guarantee.
type Violation struct {
	Seed    uint64
	Trigger string // crash, fault or damage after which the store broke the guarantee (may be "")
	Err     error
	Steps   []workload.Step // steps of the script (nil without a script)
}

func (v *Violation) Error() string {
	if v.Trigger == "" {
		return fmt.Sprintf("seed %d: %v", v.Seed, v.Err)
	}
	return fmt.Sprintf("seed %d, %s: %v", v.Seed, v.Trigger, v.Err)
}

// Unwrap returns the broken guarantee.
func (v *Violation) Unwrap() error { return v.Err }

// describeCrash describes a crash. opNumber is the operation at which the disk was stopped. image describes the content
// of the disk after the crash, such as which writes were lost. If image is "", the text contains only the operation.
func describeCrash(opNumber int, image string) string {
	s := fmt.Sprintf("crash at operation %d", opNumber)
	if image != "" {
		s += ", image: " + image
	}
	return s
}
