// This file declares the options, report and working data of a run.

package reconcile

import (
	"context"
	"errors"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Options configure [Pull] and [Push]. Nil and zero fields mean the default.
type Options struct {
	DryRun bool // only report the changes, without making them

	// Blocked returns an error if the entry must not be sent to the server. If Blocked is nil, all
	// entries may be sent.
	Blocked func(*oxbow.Entry) error

	// Rand is the source of random bytes for salts and IDs. The default is crypto/rand.
	Rand io.Reader

	// Record is called before the first change, when the state contains the plan of the run. It
	// should call [State.WritePlan], so that the next run knows the intended changes if this run is
	// killed. If Record returns an error, the run ends. Record may be nil.
	Record func() error

	// Progress is called with the number of changes made so far.
	Progress func(done, total int)

	most int // maximum number of entries to read from a server (mostEntries by default)
}

// Report describes the changes that a run has made, even if the run failed.
type Report struct {
	Changes []Change
	Waiting []Problem // for a push: entries that both sides changed, or that the server refused
	Kept    []Problem // for a push: entries that [Options.Blocked] blocked
	Behind  int       // for a push: number of server entries that a pull would change
	// Number of entries that are missing on one side, but were not removed from the other, because
	// they may be missing by mistake.
	Returns int
	// For a pull: aliases that entries of the home did not get or lost, because other entries have
	// them.
	Taken []oxbow.TakenAlias
}

// Change describes a changed entry on one side.
type Change struct {
	Name     string
	Was      string // previous name, if the entry was renamed
	Verb     oxbow.Verb
	Conflict bool // both versions were kept
}

// A Problem describes why an entry was not changed or sent.
type Problem struct {
	Name string
	Err  error
}

// ErrBoth is the reason for an entry that must be pulled before it can be pushed.
var ErrBoth = errors.New("both sides changed it")

// Limits of the data that is read from a server.
const (
	mostEntries  = 1 << 20
	mostBytes    = 1 << 30
	mostPosition = 4 << 10 // bytes
)

// Limits of a single change.
const (
	pullBytes = 32 << 20
	pushItems = 500
	pushBytes = 4 << 20
)

// session contains the working data of a pull or push.
type session struct {
	ctx          context.Context
	home, server oxbow.Store
	exact        oxbow.Store // the store below home, in which an entry has only its exact name
	st           *State
	o            Options
	rep          Report

	pairs     []*pair
	homePos   oxbow.Position  // position in the home's history after it was read; "" if the home has no positions
	serverPos oxbow.Position  // position in the server's history before it was read; "" if the server has no positions
	mark      mark            // identifies the changes of this pull
	taken     map[string]bool // names in the home after the planned steps
	undone    bool            // the last pull was undone

	// For a push: the server's entry for each alias of the entries that a pull would change.
	unpulled map[string]string

	settled map[*record]*record // new versions of changed records, nil for deleted records
	met     []*record           // new records
}

// change describes how an entry changed on one side since the last synchronization.
type change uint8

const (
	absent    change = iota // the side does not have the entry and never had it
	unchanged               // the entry is the same as at the last synchronization
	changed
	gone
)

// pair contains the versions of an entry on both sides.
type pair struct {
	record *record      // record of the last synchronization; nil if unknown or not trusted
	old    *record      // record in the state
	home   *oxbow.Entry // nil if the home does not have the entry
	server *oxbow.Entry // nil if the server does not have the entry or has not changed it
	here   change       // change in the home
	there  change       // change on the server
}

// step is a planned change of an entry.
type step struct {
	ops    []oxbow.Op
	size   int
	change Change
	record *record      // record after the step; nil if it is deleted
	old    *record      // record before the step; nil if the entry is new
	entry  *oxbow.Entry // entry of the home: after a pull, or before a push
	met    *oxbow.Entry // entry of the server, for a pull
	pair   *pair        // for a pull
	stay   bool         // after a pull, the home's entry contains changes that the server lacks
	done   bool
}

func (s *session) report(steps []*step) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			s.rep.Changes = append(s.rep.Changes, st.change)
		}
	}
}

// noteRecord stores the new record of a step until takeSettled moves it into the state.
func (s *session) noteRecord(st *step) {
	st.done = true
	if st.old != nil {
		s.settled[st.old] = st.record
	} else if st.record != nil {
		s.met = append(s.met, st.record)
	}
}

// finish moves the new records into the state and updates the home's position.
func (s *session) finish() {
	s.takeSettled()
	if now, err := storePosition(s.ctx, s.exact); err == nil {
		s.st.home = now
	}
}

func (s *session) takeSettled() {
	var all []*record
	for _, r := range s.st.records {
		if now, ok := s.settled[r]; !ok {
			all = append(all, r)
		} else if now != nil {
			all = append(all, now)
		}
	}
	s.st.records = append(all, s.met...)
	s.settled, s.met = map[*record]*record{}, nil
}

// storePosition returns the store's current position in its history, or "" if the store has no
// positions.
func storePosition(ctx context.Context, store oxbow.Store) (oxbow.Position, error) {
	q, ok := store.(oxbow.Sequencer)
	if !ok {
		return "", nil
	}
	p, err := q.Position(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return "", nil
	}
	return p, err
}
