// A run: what it is given, what it reports, and what it holds meanwhile.

package reconcile

import (
	"context"
	"errors"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Options change how is reconciled. Nil and zero fields mean the default.
type Options struct {
	DryRun bool // change nothing, and report what would be changed

	// Blocked returns why an entry is not sent to the server, nil for those that are.
	Blocked func(*oxbow.Entry) error

	// Rand gives the random bytes of hashes and ids, crypto/rand by default.
	Rand io.Reader

	// Record is called before the first change, unless nil, with what is to be changed in
	// the state, to call [State.WritePlan]: a run that is killed after it is known for what
	// it did. An error of it ends the run.
	Record func() error

	// Progress is called with how many of the changes were made.
	Progress func(done, total int)

	most int // entries that are read of a server, mostEntries by default
}

// Report says what was done. With an error, it is what was done before it.
type Report struct {
	Changes []Change
	Waiting []Problem // of push: what both sides changed, or the server refused
	Kept    []Problem // of push: what is not sent
	Behind  int       // of push: entries of the server that a pull would change
	Returns int       // entries that one side does not have any more, and whose removal is not believed
}

// Change is an entry that changed on one side.
type Change struct {
	Name     string
	Was      string // its name before, if another
	Verb     oxbow.Verb
	Conflict bool // both texts of something are kept
}

// Problem is an entry that was not taken or sent, and why.
type Problem struct {
	Name string
	Err  error
}

// ErrBoth is the reason of what is to be pulled before it can be pushed.
var ErrBoth = errors.New("both sides changed it")

// Most of what is read of one server.
const (
	mostEntries  = 1 << 20
	mostBytes    = 1 << 30
	mostPosition = 4 << 10 // bytes
)

// Bounds of one change.
const (
	pullBytes = 32 << 20
	pushItems = 500
	pushBytes = 4 << 20
)

// session is one pull or push.
type session struct {
	ctx          context.Context
	home, server oxbow.Store
	exact        oxbow.Store // the home, or what it is over: it finds names alone
	st           *State
	o            Options
	rep          Report

	pairs     []*pair
	homePos   oxbow.Position  // after the home was read; "" where it has none
	serverPos oxbow.Position  // before the server was read; "" where it has none
	mark      mark            // of the changes of a pull
	taken     map[string]bool // names of the home, as the steps leave them
	undone    bool            // the last pull was taken back

	settled map[*record]*record // what became of records, nil for what is none any more
	met     []*record           // new ones
}

// change says what became of one side of a record.
type change uint8

const (
	absent    change = iota // the side has none, and had none
	unchanged               // as both met
	changed
	gone
)

// pair is an entry as each side has it.
type pair struct {
	record *record      // nil where they never met, or where it is not believed
	old    *record      // of the state
	home   *oxbow.Entry // nil where the home has none
	server *oxbow.Entry // nil where the server has none, or has not changed it
	here   change       // of the home
	there  change       // of the server
}

// step is what is done with an entry.
type step struct {
	ops    []oxbow.Op
	size   int
	change Change
	record *record      // as it is after the step; nil for none
	old    *record      // as it was; nil for none
	entry  *oxbow.Entry // of the home, after a pull or before a push
	met    *oxbow.Entry // of the server, for a pull
	stay   bool         // the home has more than the server after a pull
	done   bool
}

func (s *session) report(steps []*step) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			s.rep.Changes = append(s.rep.Changes, st.change)
		}
	}
}

// settle puts the record of a step in the place of the old one, when the session ends.
func (s *session) settle(st *step) {
	st.done = true
	if st.old != nil {
		s.settled[st.old] = st.record
	} else if st.record != nil {
		s.met = append(s.met, st.record)
	}
}

// finish makes the records those of the steps that were done.
func (s *session) finish() {
	s.takeSettled()
	if now, err := position(s.ctx, s.exact); err == nil {
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

// position returns the place of a store in its history, "" where it has none.
func position(ctx context.Context, store oxbow.Store) (oxbow.Position, error) {
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
