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
	levelOK      = "ok"
	levelUnknown = "unknown" // could not be checked here
	levelWarning = "warning" // works, but may fail later
	levelProblem = "problem" // does not work, or loses entries
)

// Finding is the result of a check by doctor.
type Finding struct {
	Subject     string `json:"about"`
	Level       string `json:"level"` // ok, unknown, warning or problem
	Description string `json:"what"`
	Mend        string `json:"mend,omitempty"`
}

// NameCheck is the result of checking all names and aliases in a memory.
type NameCheck struct {
	totalSize   int64    // total size of the names and contents in bytes
	sharedNames []string // names and aliases that several entries have
}

// diagnosis is the state of a doctor run.
type diagnosis struct {
	workspace      *verb.Workspace
	place          verb.Place
	storeDir       string // directory of the store
	isDirForbidden bool   // the directory may not be opened
	storeExists    bool   // the store's file exists
	findings       []Finding

	cachedNameCheck nameCheckFunc // nil calls the check
}

// nameCheckFunc returns the result of check, or an earlier result if the memory has not changed since.
type nameCheckFunc = func(last uint64, check func() (NameCheck, error)) (NameCheck, error)

func (d *diagnosis) addFinding(level, subject, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{subject, level, fmt.Sprintf(format, args...), remedy})
}

// addErrorFinding adds an error as a problem, with its remedy.
func (d *diagnosis) addErrorFinding(about string, err error) {
	d.addFinding(
		levelProblem,
		about,
		d.workspace.NoteText(verb.ErrorRemedy(err)),
		"%s",
		strings.TrimSuffix(err.Error(), "."),
	)
}

// Limits in bytes: with less free space doctor reports a problem or a warning, and from largeHistory
// on it reports a file that consists mostly of history.
const (
	minFreeSpace = 1 << 20
	lowFreeSpace = 100 << 20
	largeHistory = 16 << 20

	// A smaller index file contains only a count of recalls.
	minIndexSize = 128
)

// maxLockTime is the time after which doctor reports the holder of the lock. A writer usually holds it
// for milliseconds. A writer that holds it for longer than this hangs, or rewrites a large store.
const maxLockTime = time.Minute

// maxClockSkew is the allowed difference between the clocks of hosts that use the same store.
const maxClockSkew = time.Minute
