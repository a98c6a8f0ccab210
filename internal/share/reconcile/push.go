// This file implements push, which sends the home's changes to the server. Each change names the version that the
// server should have, so that the server refuses a change of an outdated version.

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

func (s *syncRun) planPush() (steps []*plannedStep) {
	s.unpulledAliasOwners = map[string]string{}
	for _, p := range s.pairs {
		if p.serverChange == entryChangedSinceSync && p.serverEntry != nil {
			for _, a := range p.serverEntry.Aliases {
				s.unpulledAliasOwners[oxbow.NormalName(a)] = p.serverEntry.Name
			}
		}
	}
	for _, p := range s.pairs {
		if st := s.planPushStep(p); st != nil {
			steps = append(steps, st)
		}
	}
	slices.SortStableFunc(
		steps,
		func(a, b *plannedStep) int { return cmp.Compare(pullStepSortKey(a), pullStepSortKey(b)) },
	)
	return steps
}

// planPushStep returns what a push must do for the pair p, which consists of an entry in the home and the same entry on
// the server. It returns nil if the push changes neither the server's entry nor the pair's sync record. If only the
// server's entry has changed, planPushStep counts this change in the report.
func (s *syncRun) planPushStep(p *entryPair) *plannedStep {
	st := &plannedStep{oldRecord: p.lastSyncRecord, record: p.trustedRecord, homeEntry: p.homeEntry}
	switch {
	case p.serverChange == entryChangedSinceSync:
		return s.planConflictingPush(st, p)
	case p.homeChange == entryRemovedSinceSync && p.serverChange == entryRemovedSinceSync:
		st.record = nil
	case p.serverChange == entryRemovedSinceSync && p.homeChange != entryChangedSinceSync:
		s.report.ServerChangeCount++
		if p.lastSyncRecord == nil || p.trustedRecord != nil {
			return nil
		}
	case p.homeChange == entryRemovedSinceSync:
		st.record = nil
		st.ops = []oxbow.Op{oxbow.Remove{Name: p.trustedRecord.ServerEntry.EntryName, If: p.trustedRecord.Version}}
		st.change = Change{Name: p.trustedRecord.ServerEntry.EntryName, Verb: oxbow.VerbRemove}
	case p.homeChange == entryChangedSinceSync:
		if !s.planServerChange(st, p) {
			return nil
		}
	default:
		return nil
	}
	return st
}

// planConflictingPush returns the step for a pair whose entry was changed on the server since the last synchronization.
// The argument st is the step to complete. There are four cases:
//   - The home's entry is equal to the server's entry: the step only writes a new sync record.
//   - The home's entry was changed too: the result is nil, and the report lists the entry with ErrBothChanged.
//   - The last sync record is not trusted: the step only deletes this record.
//   - Otherwise the result is nil.
//
// In the last three cases, the entry must be pulled first, and the report counts it in ServerChangeCount.
func (s *syncRun) planConflictingPush(st *plannedStep, p *entryPair) *plannedStep {
	hasBoth := p.homeEntry != nil && p.serverEntry != nil
	if hasBoth && s.state.entryHash(p.homeEntry) == s.state.entryHash(p.serverEntry) {
		st.record = s.state.newPairRecord(p.serverEntry, p.homeEntry)
		return st
	}
	s.report.ServerChangeCount++
	if p.homeChange == entryChangedSinceSync {
		s.report.UnsentEntries = append(s.report.UnsentEntries, Problem{p.homeEntry.Name, ErrBothChanged})
		return nil
	}
	if p.lastSyncRecord == nil || p.trustedRecord != nil {
		return nil
	}
	// The old sync record is dropped, because it is not trusted. Clear the position, so that the next run reads all
	// entries on the server and finds the entry again.
	s.state.serverPosition = ""
	return st
}

// planServerChange makes the step send the home's entry to the server. It returns false if the entry must not be
// sent, or must be pulled first.
func (s *syncRun) planServerChange(st *plannedStep, p *entryPair) bool {
	if s.opts.CheckMaySendEntry != nil {
		if err := s.opts.CheckMaySendEntry(p.homeEntry); err != nil {
			s.report.EntriesNotAllowedToSend = append(s.report.EntriesNotAllowedToSend, Problem{p.homeEntry.Name, err})
			return false
		}
	}
	e := p.homeEntry.Clone()
	for _, a := range e.Aliases {
		// If the server gave the alias to another entry, do not send the entry now. The next pull decides which of the
		// two entries keeps the alias.
		if owner, ok := s.unpulledAliasOwners[oxbow.NormalName(a)]; ok {
			err := fmt.Errorf(
				"on the server, %q is an alias of %q; a pull decides that the older entry keeps it",
				a,
				owner,
			)
			s.report.UnsentEntries = append(s.report.UnsentEntries, Problem{e.Name, err})
			return false
		}
	}
	e.Labels = withoutServerStamps(e.Labels)
	st.contentBytes, st.change = len(e.Content), Change{Name: e.Name, Verb: oxbow.VerbAdd}
	if p.trustedRecord == nil || p.serverChange == entryRemovedSinceSync {
		st.ops = []oxbow.Op{threeway.NewAddOp(&e)}
	} else {
		was := oxbow.Entry{Name: p.trustedRecord.ServerEntry.EntryName, Kind: p.trustedRecord.ServerEntry.Kind,
			Version: p.trustedRecord.Version}
		st.ops, st.change.Verb = threeway.NewReplaceVersionOps(&was, &e), oxbow.VerbUpdate
		if was.Name != e.Name {
			st.change.OldName = was.Name
		}
	}
	st.record = s.state.newPairRecord(&e, &e)
	st.record.ID = 0
	st.record.Version = 0
	// The server sets the ID, the version and the time when it writes the entry. The next pull or push reads them from
	// the server.
	st.record.UpdatedNanoseconds = 0
	return true
}

// applyPush sends the planned changes to the server and updates the records. A request contains at most maxPushOps
// changes and maxPushBytes bytes. If all requests succeed, applyPush removes the plan from s.state. If a request fails,
// it stops and replaces the plan by a plan with the steps that the server has perhaps not received.
func (s *syncRun) applyPush(steps []*plannedStep) error {
	total := countChanges(steps)
	var sendErr error
	for len(steps) > 0 {
		part := countStepsPerChange(steps, maxPushOps, maxPushBytes)
		sendErr = s.sendSteps(steps[:part])
		if sendErr != nil {
			break
		}
		if s.opts.Progress != nil {
			s.opts.Progress(len(s.report.Changes), total)
		}
		steps = steps[part:]
	}
	s.finishRun()
	if s.state.plan != nil {
		s.state.plan = nil
		if sendErr != nil { // A request that failed may still have reached the server.
			s.state.plan = s.planUnfinishedPush(steps)
		}
	}
	hasPushedAll := sendErr == nil && s.report.ServerChangeCount == 0 && len(s.report.UnsentEntries) == 0
	if hasPushedAll {
		s.state.serverPosition = s.serverPos
	}
	if len(s.report.Changes) > 0 {
		s.fetchSentEntryVersions()
	}
	return sendErr
}

// fetchSentEntryVersions asks the server for the IDs and versions of the entries that this push sent, and stores them
// in the records of the state. Without the IDs and versions, a later run could not tell whether the server has removed
// an entry or has never received it. If the server does not answer, the next run asks again.
//
// If only this push has changed the server's entries since the last synchronization, fetchSentEntryVersions also stores
// the server's present position in s.state.serverPosition. Therefore the next run does not read the changes of this
// push again.
func (s *syncRun) fetchSentEntryVersions() {
	before, d := s.serverPos, newHomeOrServerEntries()
	now, err := s.readPosition()
	if err != nil || before == "" {
		return
	}
	s.serverPos = now
	if s.readServerChanges(d, before) != nil {
		return
	}
	ids, names := map[uint64]bool{}, map[string]*syncRecord{}
	for _, r := range s.state.records {
		if !r.WasRemoved {
			ids[r.ID], names[r.ServerEntry.EntryName] = true, r
		}
	}
	sent := s.state.serverPosition == before
	for id, e := range d.entriesByID {
		switch {
		case e == nil:
			sent = sent && !ids[id]
		case names[e.Name] != nil && s.state.entryHash(e) == names[e.Name].ServerEntry.EntryHash:
			r := names[e.Name]
			r.ID = e.ID
			r.Version = e.Version
			r.UpdatedNanoseconds = e.Updated.UnixNano()
		default:
			sent = false
		}
	}
	if sent {
		s.state.serverPosition = now
	}
}

// sendSteps sends the operations of all steps to the server as one change. If the server refuses the change because an
// operation is invalid, or because an entry was changed, added or removed meanwhile, sendSteps divides the steps into
// two halves and sends each half. If a single step is refused, its entry is added to UnsentEntries in the report, and
// sendSteps returns nil. Any other error is returned.
func (s *syncRun) sendSteps(steps []*plannedStep) error {
	var ops []oxbow.Op
	for _, st := range steps {
		ops = append(ops, st.ops...)
	}
	var err error
	if len(ops) > 0 {
		err = s.server.Apply(s.ctx, sortRemovalsFirst(ops)...)
	}
	moved := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound)
	switch {
	case err == nil:
		for _, st := range steps {
			s.addFinishedRecord(st)
			if len(st.ops) > 0 {
				s.report.Changes = append(s.report.Changes, st.change)
			}
		}
		return nil
	case !moved && !errors.Is(err, oxbow.ErrInvalid):
		return err
	case len(steps) > 1:
		half := len(steps) / 2
		if err := s.sendSteps(steps[:half]); err != nil {
			return err
		}
		return s.sendSteps(steps[half:])
	case moved:
		err = ErrBothChanged
	}
	s.report.UnsentEntries = append(s.report.UnsentEntries, Problem{steps[0].change.Name, err})
	return nil
}
