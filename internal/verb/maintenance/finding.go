// This file defines the findings of doctor.

package maintenance

import (
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Levels of a finding.
const (
	fine    = "ok"
	unknown = "unknown" // could not be checked here
	warning = "warning" // works, but may fail later
	problem = "problem" // does not work, or loses entries
)

// Finding is the result of a check by doctor.
type Finding struct {
	About string `json:"about"`
	Level string `json:"level"` // ok, unknown, warning or problem
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// NameCheck is the result of checking all names and aliases in a memory.
type NameCheck struct {
	size    int64    // total size of the names and contents in bytes
	clashes []string // names and aliases that several entries have
}

// diagnosis is the state of a doctor run.
type diagnosis struct {
	w        *verb.Workspace
	place    verb.Place
	dir      string // directory of the store
	closed   bool   // the directory may not be opened
	exists   bool   // the store's file exists
	findings []Finding

	keepNames nameKeeper // nil calls the check
}

// nameKeeper returns the result of check, or an earlier result if the memory has not changed since.
type nameKeeper = func(last uint64, check func() (NameCheck, error)) (NameCheck, error)

func (d *diagnosis) add(level, about, mend, format string, args ...any) {
	d.findings = append(d.findings, Finding{about, level, fmt.Sprintf(format, args...), mend})
}

// findError adds an error as a problem, with its remedy.
func (d *diagnosis) findError(about string, err error) {
	d.add(problem, about, d.w.Say(verb.Remedy(err)), "%s", strings.TrimSuffix(err.Error(), "."))
}

// Limits in bytes: with less free space doctor reports a problem or a warning, and from muchHistory
// on it reports a file that consists mostly of history.
const (
	noSpace     = 1 << 20
	shortSpace  = 100 << 20
	muchHistory = 16 << 20

	// A smaller index file contains only a count of recalls.
	smallestIndex = 128
)

// longHeld is the time after which doctor reports the holder of the lock. A writer usually holds it
// for milliseconds. A writer that holds it for longer than this hangs, or rewrites a large store.
const longHeld = time.Minute

// clockSlack is the allowed difference between the clocks of hosts that use the same store.
const clockSlack = time.Minute
