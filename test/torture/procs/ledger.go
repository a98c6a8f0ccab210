//go:build unix

// This file implements the ledger. For each name, the ledger contains the acknowledged changes and the changes in
// progress.

package procs

import (
	"fmt"
	"maps"
	"strings"
	"sync"
)

// requestedChange is a change of an entry that a writing goroutine has requested.
type requestedChange struct {
	// op ID of the change, which is also the first word of the written content
	opID        string
	name        string
	callVerb    string
	outcome     requestOutcome
	version     uint64 // version of the entry in the process's answer (0 if the answer did not contain a version)
	numberInLog uint64 // number of the change in the store's log (0 until it was found there)
}

type requestOutcome int

const (
	requestUnanswered requestOutcome = iota
	requestAcknowledged
	requestRefused
)

// knownEntryState contains what the campaign (a test with many processes) knows about the entry with a certain name.
// The campaign learns these facts from the answers of the tested processes.
type knownEntryState struct {
	version              uint64 // last version of the entry that a process has acknowledged
	lastOpID             string // op ID of the change that wrote this version
	isRemoved            bool   // the removal of the entry was acknowledged
	requestedChangeCount int    // number of requested changes of the entry
	answeredChangeCount  int    // number of requested changes of the entry that a process has answered
	isRemovalRequested   bool   // the removal of the entry was requested
	// several goroutines change the entry, so lastOpID may belong to an older change than the change to the number
	// version
	isSharedByWriters bool
}

// changeLedger records all changes that the writing goroutines request, and their answers. It is safe for concurrent
// use.
type changeLedger struct {
	mu      sync.Mutex
	states  map[string]*knownEntryState
	changes map[string]*requestedChange // changes that were not found in the store's log yet, by op ID
	// names of entries whose changes were acknowledged recently (the reading processes choose from these names)
	recentNames []string
	// index at which the next name is stored in recentNames, where it replaces the oldest
	nextRecentNameIndex     int
	acknowledgedChangeCount int
}

// maxRecentEntryNames is the number of entry names that are remembered. They are the names of the entries that were
// changed most recently. Goroutines that read choose the entries to read from these names.
const maxRecentEntryNames = 512

func newChangeLedger() *changeLedger {
	return &changeLedger{states: map[string]*knownEntryState{}, changes: map[string]*requestedChange{}}
}

// recordRequest records that a change is about to be requested.
func (l *changeLedger) recordRequest(opID, name, verb string, isSharedByWriters bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.states[name]
	if f == nil {
		f = &knownEntryState{isSharedByWriters: isSharedByWriters}
		l.states[name] = f
	}
	f.requestedChangeCount++
	f.isRemovalRequested = f.isRemovalRequested || verb == verbForget
	l.changes[opID] = &requestedChange{opID: opID, name: name, callVerb: verb}
}

// recordAnswer records that a process has answered the request for a change, which is identified by its op ID.
func (l *changeLedger) recordAnswer(opID string, outcome requestOutcome, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.changes[opID]
	f := l.states[c.name]
	f.answeredChangeCount++
	c.outcome, c.version = outcome, version
	if outcome == requestRefused {
		return
	}
	l.acknowledgedChangeCount++
	if f.isSharedByWriters {
		// Other goroutines may have changed the entry before this answer arrived. It is only certain that the version
		// did not decrease.
		c.version = 0
		f.version = max(f.version, version)
	} else {
		f.version, f.lastOpID = version, opID
	}
	f.isRemoved = c.callVerb == verbForget
	if len(l.recentNames) < maxRecentEntryNames {
		l.recentNames = append(l.recentNames, c.name)
		return
	}
	l.recentNames[l.nextRecentNameIndex] = c.name
	l.nextRecentNameIndex = (l.nextRecentNameIndex + 1) % maxRecentEntryNames
}

// knownEntryState returns the known state of the entry with a name.
func (l *changeLedger) knownEntryState(name string) knownEntryState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.knownEntryStateLocked(name)
}

// recentName returns the name of an entry that was changed recently, and what is known about the entry. randomNumber
// selects the name. The last result is false if no change was acknowledged yet.
func (l *changeLedger) recentName(randomNumber int) (string, knownEntryState, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recentNames) == 0 {
		return "", knownEntryState{}, false
	}
	name := l.recentNames[randomNumber%len(l.recentNames)]
	return name, l.knownEntryStateLocked(name), true
}

// knownEntryStateLocked is like knownEntryState, but the caller must hold mu. If the ledger does not contain the name,
// knownEntryStateLocked returns the state of a removed entry, because the ledger forgets removed entries.
func (l *changeLedger) knownEntryStateLocked(name string) knownEntryState {
	if f := l.states[name]; f != nil {
		return *f
	}
	return knownEntryState{isRemoved: true, isRemovalRequested: true}
}

// allStates returns the known facts about all entries, by name.
func (l *changeLedger) allStates() map[string]knownEntryState {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]knownEntryState, len(l.states))
	for name, f := range l.states {
		m[name] = *f
	}
	return m
}

// changesNotInLog returns the changes that were not found in the log yet.
func (l *changeLedger) changesNotInLog() map[string]requestedChange {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]requestedChange, len(l.changes))
	for tag, c := range l.changes {
		m[tag] = *c
	}
	return m
}

// recordFoundChange records the number seq under which the log contains the change with this op ID. It returns an error
// if the change was not requested, belongs to another entry, or was found before.
func (l *changeLedger) recordFoundChange(opID, name string, seq uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.changes[opID]
	switch {
	case c == nil:
		return fmt.Errorf(
			"twice: the log has %s of %q again, or without anybody having asked for it, as change %d",
			opID,
			name,
			seq,
		)
	case c.name != name:
		return fmt.Errorf("mixed: the log has %s under the name %q, not %q, as change %d", opID, name, c.name, seq)
	case c.numberInLog != 0:
		return fmt.Errorf("twice: the log has %s of %q as change %d and as change %d", opID, name, c.numberInLog, seq)
	}
	c.numberInLog = seq
	return nil
}

// recordFoundRemoval records that the log contains the removal of the entry with this name, as the change with the
// number seq. It searches l.changes for a request to forget an entry with this name. It cannot search by the op ID,
// because the op ID is written in an entry's content, and a removal has no content. If no removal of this entry was
// requested, recordFoundRemoval returns an error.
func (l *changeLedger) recordFoundRemoval(name string, seq uint64) error {
	l.mu.Lock()
	tag := ""
	for t, c := range l.changes {
		if c.callVerb == verbForget && c.name == name {
			tag = t
		}
	}
	l.mu.Unlock()
	return l.recordFoundChange(tag, name, seq)
}

// removeVerifiedChanges removes the changes with the given op IDs from the ledger, because they were found in the log.
// If a change belongs to an entry that was removed, and every requested change of that entry was answered, the entry's
// name is removed as well.
func (l *changeLedger) removeVerifiedChanges(opIDs []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range opIDs {
		c := l.changes[t]
		delete(l.changes, t)
		f := l.states[c.name]
		if f == nil || !f.isRemoved {
			continue
		}
		if f.requestedChangeCount == f.answeredChangeCount {
			delete(l.states, c.name)
		}
	}
}

// expectedEntryStates returns the entries that must exist when no change is in progress. The result maps the name of
// each such entry to the known facts about the entry.
func (l *changeLedger) expectedEntryStates() map[string]knownEntryState {
	m := l.allStates()
	maps.DeleteFunc(m, func(_ string, f knownEntryState) bool { return f.isRemoved || f.version == 0 })
	return m
}

// firstWord returns the first word of an entry's content. It is the op ID of the change that wrote the entry.
func firstWord(content string) string {
	tag, _, _ := strings.Cut(content, " ")
	return tag
}
