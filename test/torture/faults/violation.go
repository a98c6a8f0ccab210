// This file defines the report of every campaign.

// Package faults has the campaigns that test one store in this process with crashes of the disk
// ([Crash]), failing operations ([FindErrors]), damaged files ([DamageStores]), and goroutines in several
// processes ([Linear]).
package faults

import (
	"fmt"

	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// Violation is a broken guarantee of a store.
type Violation struct {
	Seed  uint64
	Where string // the crash, fault or damage that caused it (may be "")
	Err   error
	Steps []workload.Step // steps of the script, if there is one
}

func (v *Violation) Error() string {
	if v.Where == "" {
		return fmt.Sprintf("seed %d: %v", v.Seed, v.Err)
	}
	return fmt.Sprintf("seed %d, %s: %v", v.Seed, v.Where, v.Err)
}

// Unwrap returns the broken guarantee.
func (v *Violation) Unwrap() error { return v.Err }

// describeCrash describes a crash by the operation and the losses.
func describeCrash(op int, image string) string {
	s := fmt.Sprintf("crash at operation %d", op)
	if image != "" {
		s += ", image: " + image
	}
	return s
}
