// Pull and push: the server's changes go into the home, or the home's to the server.

// Package reconcile brings a home and a server together, entry by entry: each side's
// changes since both met last, in any order, by the merge of package team.
//
// [Pull] changes the home alone, [Push] the server alone. Labels and aliases merge as
// sets, contents by line; both texts are kept, with the label conflict, where the same
// lines were changed. An edit wins over a removal. A rename is a removal, and an entry
// that is new and was created at the same nanosecond. What one side alone changed is
// taken as it is.
//
// What both had is a [State]. Without it nothing is lost, and what was removed may come
// back. So it is where the history of a side was rewritten, or is of another store: a
// removal is believed where its history leads on from what both had.
package reconcile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Options change how is reconciled. Nil and zero fields mean the default.
type Options struct {
	DryRun bool // change nothing, and report what would be changed

	// Blocked returns why an entry is not sent to the server, nil for those that are.
	Blocked func(*oxbow.Entry) error

	// Rand gives the random bytes of hashes, crypto/rand by default.
	Rand io.Reader

	// Progress is called with how many of the changes were made.
	Progress func(done, total int)
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
	mostEntries = 1 << 20
	mostBytes   = 1 << 30
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
	serverPos oxbow.Position  // before the server was read; "" where it has none
	taken     map[string]bool // names of the home, as the steps leave them
	undone    bool            // the last pull was taken back

	settled map[*record]*record // what became of records, nil for what is none any more
	met     []*record           // new ones
}

// Pull brings what the server has into the home. The context's source is stamped on the
// change. Where the state says that both met before, one change of the home is made, and
// else as many as 32 MiB ask for.
func Pull(ctx context.Context, home, server oxbow.Store, st *State, o *Options) (Report, error) {
	s, err := begin(ctx, home, server, st, o)
	if err != nil {
		return Report{}, err
	}
	steps, err := s.planPull()
	if err != nil || s.o.DryRun {
		s.report(steps)
		return s.rep, err
	}
	err = s.applyPull(steps)
	return s.rep, err
}

// Push brings what the home has to the server. What both changed waits for a pull. An
// interrupted push goes on with the next.
func Push(ctx context.Context, home, server oxbow.Store, st *State, o *Options) (Report, error) {
	s, err := begin(ctx, home, server, st, o)
	if err != nil {
		return Report{}, err
	}
	steps := s.planPush()
	if s.o.DryRun {
		s.report(steps)
		return s.rep, nil
	}
	err = s.applyPush(steps)
	return s.rep, err
}

// begin reads both sides.
func begin(ctx context.Context, home, server oxbow.Store, st *State, o *Options) (*session, error) {
	s := &session{ctx: ctx, home: home, exact: home, server: server, st: st, taken: map[string]bool{}, settled: map[*record]*record{}}
	if m, ok := home.(interface{ Store() oxbow.Store }); ok {
		s.exact = m.Store()
	}
	if o != nil {
		s.o = *o
	}
	if s.o.Rand == nil {
		s.o.Rand = rand.Reader
	}
	if len(st.salt) == 0 {
		*st = State{URL: st.URL, TokenFile: st.TokenFile, salt: make([]byte, 16)}
		if _, err := io.ReadFull(s.o.Rand, st.salt); err != nil {
			return nil, fmt.Errorf("making a salt: %w", err)
		}
	}
	return s, s.read()
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
	if st.old != nil {
		s.settled[st.old] = st.record
	} else if st.record != nil {
		s.met = append(s.met, st.record)
	}
}

// finish makes the records those of the steps that were done.
func (s *session) finish() {
	var all []*record
	for _, r := range s.st.records {
		if now, ok := s.settled[r]; !ok {
			all = append(all, r)
		} else if now != nil {
			all = append(all, now)
		}
	}
	s.st.records = append(all, s.met...)
	if now, err := position(s.ctx, s.exact); err == nil {
		s.st.home = now
	}
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
