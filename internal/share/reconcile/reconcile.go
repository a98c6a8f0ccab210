// This file declares the options and the report of a run, and the data with which a run works.

package reconcile

import (
	"context"
	"errors"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Options configure [IsPull] and [Push]. Nil and zero fields mean the default.
type Options struct {
	DryRun bool // only report the changes, without making them

	// CheckSend returns an error if the entry must not be sent to the server. If Blocked is nil, all
	// entries may be sent.
	CheckSend func(*oxbow.Entry) error

	// Rand is the source of random bytes for salts and IDs. The default is crypto/rand.
	Rand io.Reader

	// WritePlan is called before the first change, when the state contains the plan of the run. It
	// should call [State.WritePlan], so that the next run knows the intended changes if this run is
	// killed. If Record returns an error, the run ends. Record may be nil.
	WritePlan func() error

	// Progress is called with the number of changes made so far.
	Progress func(done, total int)

	maxEntries int // maximum number of entries to read from a server (maxServerEntries by default)
}

// Report describes the changes that a run has made, even if the run failed.
type Report struct {
	Changes []Change
	Unsent  []Problem // for a push: entries that both sides changed, or that the server refused
	Blocked []Problem // for a push: entries that [Options.CheckSend] blocked
	// for a push: number of entries that the server has changed, so that a pull would change them
	// in the home
	ServerChanges int
	// Number of entries that are missing on one side, perhaps by mistake, and were therefore not
	// removed from the other side.
	NotRemoved int
	// For a pull: aliases that an entry of the home did not get, or lost, because another entry has
	// the alias.
	TakenAliases []oxbow.TakenAlias
}

// Change describes a changed entry on one side.
type Change struct {
	Name        string
	OldName     string // previous name, if the entry was renamed
	Verb        oxbow.Verb
	HasConflict bool // both versions were kept
}

// A Problem describes why an entry was not changed or sent.
type Problem struct {
	Name string
	Err  error
}

// ErrBothChanged is the reason for an entry that must be pulled before it can be pushed.
var ErrBothChanged = errors.New("both sides changed it")

// Limits of the data that is read from a server.
const (
	maxServerEntries = 1 << 20
	maxServerBytes   = 1 << 30
	maxPosition      = 4 << 10 // bytes
)

// Limits of a single change.
const (
	pullBytes = 32 << 20
	pushItems = 500
	pushBytes = 4 << 20
)

// syncRun contains the data with which a pull or push works.
type syncRun struct {
	ctx          context.Context
	home, server oxbow.Store
	exactHome    oxbow.Store // the store below home, in which an entry has only its exact name
	state        *State
	opts         Options
	report       Report

	pairs     []*entryPair
	homePos   oxbow.Position  // position in the home's history after it was read ("" if the home has no positions)
	serverPos oxbow.Position  // position in the server's history before it was read ("" if the server has no positions)
	pullMark  pullMark        // identifies the changes of this pull
	usedNames map[string]bool // names in the home after the planned steps
	isUndone  bool            // the last pull was undone

	// For a push: the aliases of the entries that a pull would change, each with the server's entry
	// that has the alias.
	unpulledAliases map[string]string

	replacements map[*syncRecord]*syncRecord // new versions of changed records, nil for deleted records
	newRecords   []*syncRecord               // new records
}

// sideChange tells how an entry changed on one side since the last synchronization.
type sideChange uint8

const (
	sideAbsent    sideChange = iota // the side does not have the entry and never had it
	sideUnchanged                   // the entry is the same as at the last synchronization
	sideChanged
	sideRemoved
)

// entryPair contains the versions of an entry on both sides.
type entryPair struct {
	record       *syncRecord  // record of the last synchronization (nil if unknown or not trusted)
	oldRecord    *syncRecord  // record in the state, even if it is not trusted
	home         *oxbow.Entry // nil if the home does not have the entry
	server       *oxbow.Entry // nil if the server does not have the entry or has not changed it
	homeChange   sideChange   // change in the home
	serverChange sideChange   // change on the server
}

// plannedStep is a planned change of an entry.
type plannedStep struct {
	ops            []oxbow.Op
	size           int
	change         Change
	record         *syncRecord  // record after the step (nil if it is deleted)
	oldRecord      *syncRecord  // record before the step (nil if the entry is new)
	homeEntry      *oxbow.Entry // entry in the home: for a pull, after the step; for a push, before the step
	serverEntry    *oxbow.Entry // entry of the server, for a pull
	pair           *entryPair   // for a pull
	hasHomeChanges bool         // after the pull, the home's entry contains changes that are not on the server
	isDone         bool
}

func (s *syncRun) addToReport(steps []*plannedStep) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			s.report.Changes = append(s.report.Changes, st.change)
		}
	}
}

// queueRecord stores the new record of a step until moveRecords moves it into the state.
func (s *syncRun) queueRecord(st *plannedStep) {
	st.isDone = true
	if st.oldRecord != nil {
		s.replacements[st.oldRecord] = st.record
	} else if st.record != nil {
		s.newRecords = append(s.newRecords, st.record)
	}
}

// finishRun moves the new records into the state and updates the home's position.
func (s *syncRun) finishRun() {
	s.moveRecords()
	if now, err := storePosition(s.ctx, s.exactHome); err == nil {
		s.state.homePosition = now
	}
}

func (s *syncRun) moveRecords() {
	var all []*syncRecord
	for _, r := range s.state.records {
		if current, ok := s.replacements[r]; !ok {
			all = append(all, r)
		} else if current != nil {
			all = append(all, current)
		}
	}
	s.state.records = append(all, s.newRecords...)
	s.replacements, s.newRecords = map[*syncRecord]*syncRecord{}, nil
}

// storePosition returns the store's current position in its history, or "" if the store has no
// positions.
func storePosition(ctx context.Context, store oxbow.Store) (oxbow.Position, error) {
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
