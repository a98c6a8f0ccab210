// Findings of doctor.

package maintenance

import (
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// The levels of a finding.
const (
	fine    = "ok"
	unknown = "unknown" // could not be looked at here
	warning = "warning" // works, and may fail one day
	problem = "problem" // does not work, or loses what is remembered
)

// Finding is one thing that doctor looked at.
type Finding struct {
	About string `json:"about"`
	Level string `json:"level"` // ok, unknown, warning or problem
	What  string `json:"what"`
	Mend  string `json:"mend,omitempty"`
}

// diagnosis is one run of doctor.
type diagnosis struct {
	w        *verb.Workspace
	place    verb.Place
	dir      string // the directory that holds the store
	closed   bool   // the directory may not be opened
	exists   bool   // there is a file of that name
	findings []Finding
}

func (d *diagnosis) add(level, about, mend, format string, args ...any) {
	d.findings = append(d.findings, Finding{about, level, fmt.Sprintf(format, args...), mend})
}

// findError makes a problem of an error, with its remedy.
func (d *diagnosis) findError(about string, err error) {
	d.add(problem, about, d.w.Say(verb.Remedy(err)), "%s", strings.TrimSuffix(err.Error(), "."))
}

// Where space is short, in bytes; and from which size on a file that is mostly
// history is worth a word.
const (
	noSpace     = 1 << 20
	shortSpace  = 100 << 20
	muchHistory = 16 << 20

	// An index file with fewer bytes counts recalls.
	smallestIndex = 128
)

// A writer has the lock for some milliseconds. One that has it longer than this
// hangs, or rewrites a large store.
const longHeld = time.Minute

// Clocks of hosts that use a store in turn differ by a little.
const clockSlack = time.Minute
