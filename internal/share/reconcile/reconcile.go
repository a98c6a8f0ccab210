// This file declares the options and the report of a pull or push, and the state while it runs.

package reconcile

import (
	"context"
	"errors"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Options configure [Pull] and [Push]. A field that is nil or zero means the default.
type Options struct {
	DryRun bool // only report what would change, and change nothing

	// CheckMaySendEntry returns an error if the entry must not be sent to the server. If CheckMaySendEntry is nil,
	// each entry may be sent.
	CheckMaySendEntry func(*oxbow.Entry) error

	// Rand is the source of random bytes for salts and IDs. The default is crypto/rand.
	Rand io.Reader

	// WritePlanFile is called before a pull or push makes its first change, when the state contains the list of all
	// planned changes. It should call [State.WritePlan] to store this list. If the process is then killed, the next
	// pull or push knows which changes may have been made. If WritePlanFile returns an error, the pull or push ends.
	// WritePlanFile may be nil.
	WritePlanFile func() error

	// Progress is called with the number of changes that are made and the total number. It may be nil.
	Progress func(done, total int)

	maxEntries int // maximum number of entries that are read from a server (0 means maxEntriesReadFromServer)
}

// Report lists the changes that a run has made, even if the run failed.
type Report struct {
	Changes []Change
	// for a push: entries that were not sent because both sides changed them, or that the server refused
	UnsentEntries           []Problem
	EntriesNotAllowedToSend []Problem // for a push: entries that [Options.CheckMaySendEntry] did not allow to be sent
	// for a push: number of entries that were changed on the server and were not pulled yet
	ServerChangeCount int
	// NotRemovedCount is the number of entries that are missing on one side and were not removed from the opposite
	// side, because they may be missing by mistake.
	NotRemovedCount int
	// for a pull: aliases that entries of the home lost or did not get, because another entry has them
	TakenAliases []oxbow.TakenAlias
}

// Change describes how a pull changed an entry in the home, or how a push changed an entry on the server.
type Change struct {
	Name        string
	OldName     string // name before the change, if the entry was renamed
	Verb        oxbow.Verb
	HasConflict bool // both versions were kept, because they could not be merged
}

// A Problem is the reason why an entry was left unchanged or was not sent.
type Problem struct {
	Name string
	Err  error
}

// ErrBothChanged is the reason why a push did not send an entry: the entry was changed both in the home (the memory on
// this computer) and on the server. The user must pull the entry before the entry can be pushed.
var ErrBothChanged = errors.New("both sides changed it")

// Limits for the data that a pull or push reads from the server. They protect this computer from a faulty server.
const (
	maxEntriesReadFromServer = 1 << 20
	maxBytesFromServer       = 1 << 30
	maxPositionBytes         = 4 << 10 // maximum length, in bytes, of a position in the server's history
)

// Limits for a single change or request.
const (
	maxPullChangeBytes = 32 << 20
	maxPushOps         = 500
	maxPushBytes       = 4 << 20
)

// syncRun is the state of one pull or push.
type syncRun struct {
	ctx                context.Context
	home, server       oxbow.Store
	exactNameHomeStore oxbow.Store // the home's own store, which finds an entry only by its name and not by an alias
	state              *State
	opts               Options
	report             Report

	pairs   []*entryPair
	homePos oxbow.Position // position in the home's history when it was read ("" if the home lacks positions)
	// position in the server's history before it was read ("" if the server lacks positions)
	serverPos         oxbow.Position
	pullIdentity      pullIdentity    // identifies the changes that this pull makes in the home
	usedNames         map[string]bool // names that the home's entries will have after the planned changes
	wasLastPullUndone bool            // somebody has undone the last pull

	// for a push: the aliases that were changed on the server and not pulled yet, each with the name of the server's
	// entry that has the alias
	unpulledAliasOwners map[string]string

	// new version of each changed sync record (nil for a deleted sync record)
	replacementRecords map[*syncRecord]*syncRecord
	newRecords         []*syncRecord // records about entries that were never synchronized before
}

// changeSinceLastSync says how an entry has changed in the home, or on the server, since the last synchronization.
type changeSinceLastSync uint8

const (
	// The entry never existed on this side (in the home or on the server).
	entryNeverExisted       changeSinceLastSync = iota
	entryUnchangedSinceSync                     // the entry has not changed since the last synchronization
	entryChangedSinceSync
	entryRemovedSinceSync
)

// entryPair contains the two versions of one entry: the version in the home (the memory on this computer), and the
// version on the server.
type entryPair struct {
	// the record about the entry from the last synchronization (nil if the record is missing or may be wrong)
	trustedRecord  *syncRecord
	lastSyncRecord *syncRecord  // record of the last synchronization, even if it is not trusted
	homeEntry      *oxbow.Entry // the entry in the home, or nil if the home lacks the entry
	// the server's entry (nil if the server lacks the entry or has not changed it since the last synchronization)
	serverEntry  *oxbow.Entry
	homeChange   changeSinceLastSync // how the entry has changed in the home
	serverChange changeSinceLastSync // how the entry has changed on the server
}

// plannedStep is the action by which a pull or push changes an entry, the record about the entry, or both.
type plannedStep struct {
	ops          []oxbow.Op
	contentBytes int
	change       Change
	record       *syncRecord // the record after the step (nil if the step deletes it)
	oldRecord    *syncRecord // the record about the entry before this step (nil without a record)
	// for a pull: the entry in the home (the memory on this computer) after this step; for a push: the entry in the
	// home, which a push does not change
	homeEntry      *oxbow.Entry
	serverEntry    *oxbow.Entry // for a pull: the server's entry
	pair           *entryPair   // for a pull: the entry's versions in the home and on the server
	hasHomeChanges bool         // the home's entry will contain changes that the server does not have
	isDone         bool
}

func (s *syncRun) addStepsToReport(steps []*plannedStep) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			s.report.Changes = append(s.report.Changes, st.change)
		}
	}
}

// addFinishedRecord marks the planned step st as done. It keeps st.record, the new sync record of the step's entry, in
// s.replacementRecords if the record replaces an old record, and otherwise in s.newRecords. The function
// applyRecordReplacements later moves these records into the state.
func (s *syncRun) addFinishedRecord(st *plannedStep) {
	st.isDone = true
	if st.oldRecord != nil {
		s.replacementRecords[st.oldRecord] = st.record
	} else if st.record != nil {
		s.newRecords = append(s.newRecords, st.record)
	}
}

// finishRun adds the new sync records to s.state, and stores the present position in the home's history in s.state. If
// the position cannot be read, the old position is kept.
func (s *syncRun) finishRun() {
	s.applyRecordReplacements()
	if now, err := readStorePosition(s.ctx, s.exactNameHomeStore); err == nil {
		s.state.homeHistoryPosition = now
	}
}

func (s *syncRun) applyRecordReplacements() {
	var all []*syncRecord
	for _, r := range s.state.records {
		if current, ok := s.replacementRecords[r]; !ok {
			all = append(all, r)
		} else if current != nil {
			all = append(all, current)
		}
	}
	s.state.records = append(all, s.newRecords...)
	s.replacementRecords, s.newRecords = map[*syncRecord]*syncRecord{}, nil
}

// readStorePosition returns the present position in a store's history, or "" if the store lacks positions.
func readStorePosition(ctx context.Context, store oxbow.Store) (oxbow.Position, error) {
	q := oxbow.CapabilitiesOf(store).Sequencer
	if q == nil {
		return "", nil
	}
	p, err := q.Position(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return "", nil
	}
	return p, err
}
