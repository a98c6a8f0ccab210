// This file implements the functions Pull and Push.

// Package reconcile synchronizes a home with a server, entry by entry. It merges the changes that both sides made since
// the last synchronization, by the rules of package threeway.
//
// [Pull] changes only the home, and [Push] changes only the server. Labels and aliases are merged as sets, and contents
// line by line. If both sides changed the same lines, both texts are kept and the entry gets a label with the key
// "conflict". A change wins over a removal. A removed entry and a new entry with the same kind and the same time of
// creation count as a renamed entry. If only one side changed an entry, both sides get this side's version. If both
// sides gave an alias to different entries, the entry that was created first keeps the alias.
//
// A [State] records the entries that both sides had when they were last synchronized. If the state is lost, no entries
// are lost, but removed entries may reappear. The same happens if the history of a side was rewritten or belongs to a
// different store: a removal is trusted only if the history continues from the last synchronization.
package reconcile

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// Pull merges the server's changes into the home. The source of the changes in the home (who made them) is taken from
// ctx. Pull makes one change in the home for every 32 MiB of contents. If o.DryRun is set, Pull only reports the
// changes.
func Pull(ctx context.Context, home, server oxbow.Store, st *State, o *Options) (Report, error) {
	s, err := beginRun(ctx, home, server, st, o)
	if err != nil {
		return Report{}, err
	}
	steps, err := s.planPull()
	if err != nil || s.opts.DryRun {
		s.addStepsToReport(steps)
		return s.report, err
	}
	err = s.savePullPlan(steps)
	if err == nil {
		err = s.applyPullSteps(steps)
	}
	return s.report, err
}

// Push sends the home's changes to the server. Entries that both sides changed are not sent, because they must be
// pulled first. If a push was interrupted, the next call continues it.
func Push(ctx context.Context, homeStore, serverStore oxbow.Store, st *State, o *Options) (Report, error) {
	s, err := beginRun(ctx, homeStore, serverStore, st, o)
	if err != nil {
		return Report{}, err
	}
	steps := s.planPush()
	if s.opts.DryRun {
		s.addStepsToReport(steps)
		return s.report, nil
	}
	err = s.savePushPlan(steps)
	if err == nil {
		err = s.applyPush(steps)
	}
	return s.report, err
}

// beginRun prepares a pull or a push. If the state st has no salt, beginRun resets st and chooses a random salt, which
// is part of all hashes in the state. Then readAndPairEntries reads the home and the server and pairs their entries. If
// an earlier pull or push was interrupted, readAndPairEntries also records in the state what the interrupted run had
// done.
func beginRun(ctx context.Context, home, server oxbow.Store, st *State, o *Options) (*syncRun, error) {
	s := &syncRun{
		ctx:                ctx,
		home:               home,
		exactNameHomeStore: home,
		server:             server,
		state:              st,
		usedNames:          map[string]bool{},
		replacementRecords: map[*syncRecord]*syncRecord{},
	}
	if m, ok := home.(interface{ Store() oxbow.Store }); ok {
		s.exactNameHomeStore = m.Store()
	}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Rand == nil {
		s.opts.Rand = rand.Reader
	}
	if len(st.salt) == 0 {
		*st = State{URL: st.URL, fileHeaderDigest: st.fileHeaderDigest, hasPlan: st.hasPlan, salt: make([]byte, 16)}
		if _, err := io.ReadFull(s.opts.Rand, st.salt); err != nil {
			return nil, fmt.Errorf("making a salt: %w", err)
		}
	}
	return s, s.readAndPairEntries()
}

// readAndPairEntries reads the home's and the server's entries, and pairs the entries that belong together.
func (s *syncRun) readAndPairEntries() error {
	if err := s.resumePull(); err != nil {
		return fmt.Errorf("looking for what an interrupted pull did: %w", err)
	}
	home, err := s.readHome()
	if err != nil {
		return err
	}
	server, err := s.readServerEntries(home.isHistoryContinued)
	if err == nil {
		err = s.resumePush(server)
	}
	if err != nil {
		return fmt.Errorf("reading the server: %w", err)
	}
	s.pairEntries(home, server)
	return nil
}
