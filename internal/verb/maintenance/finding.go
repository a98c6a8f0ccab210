// This file defines the findings of the verb doctor.

package maintenance

import (
	"fmt"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// These are the levels of a finding.
const (
	findingLevelOK          = "ok"
	findingLevelUncheckable = "unknown" // This could not be checked here.
	findingLevelWarning     = "warning" // The checked thing works now, but may fail later.
	findingLevelProblem     = "problem" // The checked thing does not work, or entries may get lost.
)

// Finding is the result of a check by the command "oxbow doctor".
type Finding struct {
	Subject     string `json:"about"`
	Level       string `json:"level"` // ok, unknown, warning or problem
	Description string `json:"what"`
	Mend        string `json:"mend,omitempty"`
}

// EntryNamesCheck is the result of checking all names and aliases in a memory.
type EntryNamesCheck struct {
	nameAndContentBytes   int64    // total size in bytes of all entries' names and contents
	namesOfSeveralEntries []string // names and aliases that several entries have
}

// diagnosis is the state during one call of the verb doctor.
type diagnosis struct {
	workspace      *verb.Workspace
	memoryPlace    verb.Place
	storeDir       string // directory that contains the store
	isDirForbidden bool   // The permissions do not allow opening the directory.
	storeExists    bool   // The file of the store exists.
	findings       []Finding

	// Returns the result of the check for names that several entries have. If the memory is unchanged, it may be an
	// earlier result. If nameCheckCache is nil, the check runs each time.
	nameCheckCache cachedNamesCheckFunc
}

// cachedNamesCheckFunc returns the result of the function check. The parameter last is the number of the memory's last
// change. If the result for this number is cached, the cached result is returned, and check is not called.
type cachedNamesCheckFunc = func(last uint64, check func() (EntryNamesCheck, error)) (EntryNamesCheck, error)

func (d *diagnosis) addFinding(level, subject, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{subject, level, fmt.Sprintf(format, args...), remedy})
}

// addErrorFinding adds an error as a problem, with the remedy that the error names.
func (d *diagnosis) addErrorFinding(subject string, err error) {
	d.addFinding(
		findingLevelProblem,
		subject,
		d.workspace.NoteText(verb.ErrorRemedy(err)),
		"%s",
		strings.TrimSuffix(err.Error(), "."),
	)
}

// These limits are in bytes. If less than minFreeSpaceBytes is free on the disk, doctor reports a problem. If less
// than lowFreeSpaceBytes is free, it reports a warning. It reports a store that consists mostly of history if the
// history has at least largeHistoryBytes bytes.
const (
	minFreeSpaceBytes = 1 << 20
	lowFreeSpaceBytes = 100 << 20
	largeHistoryBytes = 16 << 20

	// A file with fewer bytes contains no index yet. Such a file only counts the searches that ran without an index.
	minIndexBytes = 128
)

// If a process holds the lock for longer than maxLockTime, doctor reports this. A writer usually holds it for
// milliseconds. A process that holds it for longer hangs, or rewrites a large store.
const maxLockTime = time.Minute

// maxClockSkew is the maximum difference, without a warning, between the clocks of machines that share a store.
const maxClockSkew = time.Minute
