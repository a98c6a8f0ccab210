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
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow"
)

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
	err = s.announce(steps, true)
	if err == nil {
		err = s.applyPull(steps)
	}
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
	err = s.announce(steps, false)
	if err == nil {
		err = s.applyPush(steps)
	}
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
		*st = State{URL: st.URL, base: st.base, hasPlan: st.hasPlan, salt: make([]byte, 16)}
		if _, err := io.ReadFull(s.o.Rand, st.salt); err != nil {
			return nil, fmt.Errorf("making a salt: %w", err)
		}
	}
	return s, s.read()
}

// read reads both sides and pairs their entries.
func (s *session) read() error {
	if err := s.resumePull(); err != nil {
		return fmt.Errorf("looking for what an interrupted pull did: %w", err)
	}
	home, err := s.readHome()
	if err != nil {
		return err
	}
	server, err := s.readServer(home.trusted)
	if err == nil {
		err = s.resumePush(server)
	}
	if err != nil {
		return fmt.Errorf("reading the server: %w", err)
	}
	s.pair(home, server)
	return nil
}
