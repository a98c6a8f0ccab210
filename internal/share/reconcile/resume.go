// This file finds out which changes a pull or push made before its process was killed. It is needed because the next
// run would find the same change both in the home (the memory on this computer) and on the server. Without knowing that
// one run made both changes, the next run would treat them as a conflict between two people.

package reconcile

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// ensureSession adds a random session ID to s.ctx, if s.ctx has no session ID yet. With this ID, the changes of this
// pull can be found in the home's history. ensureSession also sets s.pullIdentity, which contains the session ID and
// the number of the last change before the pull.
func (s *syncRun) ensureSession() error {
	src, _ := oxbow.SourceFrom(s.ctx)
	if src.Session == "" {
		b := make([]byte, 8)
		if _, err := io.ReadFull(s.opts.Rand, b); err != nil {
			return fmt.Errorf("making an id: %w", err)
		}
		src.Session = hex.EncodeToString(b)
		s.ctx = oxbow.WithSource(s.ctx, src)
	}
	s.pullIdentity = pullIdentity{
		LastChangeBeforePull: s.lastHomeChangeSeq(),
		PullSession:          src.Session,
		ChangeNotePrefix:     oxbow.NoteFrom(s.ctx),
	}
	return nil
}

// savePullPlan stores the plan of a pull in the state, and calls [Options.WritePlanFile], so that the caller writes
// the plan to a file. It does nothing if WritePlanFile is nil, or if the steps change no entry.
func (s *syncRun) savePullPlan(steps []*plannedStep) error {
	if s.opts.WritePlanFile == nil || countChanges(steps) == 0 {
		return nil
	}
	if err := s.ensureSession(); err != nil {
		return err
	}
	s.state.plan = s.planUnfinishedPull(steps)
	return s.opts.WritePlanFile()
}

// savePushPlan stores the plan of a push in the state, and calls [Options.WritePlanFile], so that the caller writes
// the plan to a file. It does nothing if WritePlanFile is nil, or if the steps change no entry.
func (s *syncRun) savePushPlan(steps []*plannedStep) error {
	if s.opts.WritePlanFile == nil || countChanges(steps) == 0 {
		return nil
	}
	s.state.plan = s.planUnfinishedPush(steps)
	return s.opts.WritePlanFile()
}

// planUnfinishedPull returns the plan of a pull: those steps that change an entry and are not done. The plan differs
// from the plan of a push (see planUnfinishedPush) in two points: isPull is true, and the record of a step also
// describes the entry that the home will have after the step.
func (s *syncRun) planUnfinishedPull(steps []*plannedStep) *unfinishedRunPlan {
	unfinished := unfinishedSteps(steps)
	p := s.planUnfinishedPush(steps)
	p.isPull = true
	for i, q := range p.steps {
		st := unfinished[i]
		if st.record != nil && st.homeEntry != nil {
			r := *st.record
			r.HomeEntry = s.state.identify(st.homeEntry)
			q.EntryNameInHome, q.Record = st.homeEntry.Name, &r
		}
	}
	return p
}

// unfinishedSteps returns the steps that change an entry and are not done.
func unfinishedSteps(steps []*plannedStep) (unfinished []*plannedStep) {
	for _, st := range steps {
		hasRecord := st.record != nil || st.oldRecord != nil
		changesEntry := len(st.ops) > 0 && hasRecord
		if changesEntry && !st.isDone {
			unfinished = append(unfinished, st)
		}
	}
	return unfinished
}

// planUnfinishedPush returns a plan with those steps of a push that change an entry and are not done. A step in a plan
// refers to its record by number.
func (s *syncRun) planUnfinishedPush(steps []*plannedStep) *unfinishedRunPlan {
	number := map[*syncRecord]int{}
	for i, r := range s.state.records {
		number[r] = i + 1
	}
	p := &unfinishedRunPlan{homeHistoryPosition: s.homePos, pullIdentity: s.pullIdentity}
	for _, st := range unfinishedSteps(steps) {
		p.steps = append(p.steps, &planStep{
			ReplacedSyncRecordNumber: number[st.oldRecord],
			Name:                     st.change.Name,
			HasHomeChanges:           st.hasHomeChanges,
			Record:                   st.record,
		})
	}
	return p
}

// resumePull updates the records for the changes that a killed pull made. It finds these changes in the home's
// history.
func (s *syncRun) resumePull() error {
	p := s.state.plan
	if p == nil || !p.isPull {
		return nil
	}
	s.state.plan = nil
	h, err := oxbow.HistoryOf(s.home)
	if err != nil {
		return nil
	}
	d := pullHistoryChanges{entriesByName: map[string]oxbow.Entry{}, removedNames: map[string]bool{}}
	for c, err := range h.Log(s.ctx) {
		if err != nil {
			return err
		}
		if c.Seq <= p.pullIdentity.LastChangeBeforePull {
			break
		}
		isOfRun := c.Source.Session == p.pullIdentity.PullSession && c.Note == p.pullIdentity.ChangeNotePrefix
		if isOfRun && len(c.Reverts) == 0 {
			d.addChange(c)
		}
	}
	if len(d.seqs) == 0 {
		return nil
	}
	s.forgetUndoData()
	for _, q := range p.steps {
		if st := s.findFinishedPullStep(q, d); st != nil {
			s.addFinishedRecord(st)
		}
	}
	s.applyRecordReplacements()
	s.state.lastPullChangeNumbers, s.state.serverPositionBeforePull = d.seqs, s.state.serverPosition
	if s.state.homeHistoryPosition == "" {
		s.state.homeHistoryPosition = p.homeHistoryPosition
	}
	return nil
}

// pullHistoryChanges contains the changes of a pull, as they were found in the home's history.
type pullHistoryChanges struct {
	seqs          []uint64 // numbers of the home's changes, in ascending order
	entriesByName map[string]oxbow.Entry
	removedNames  map[string]bool
}

// addChange adds a change of the pull. Changes must be added from the newest to the oldest.
func (d *pullHistoryChanges) addChange(c oxbow.Change) {
	d.seqs = append([]uint64{c.Seq}, d.seqs...)
	for _, v := range c.Versions {
		if v.Verb == oxbow.VerbRemove {
			d.removedNames[v.Entry.Name] = true
		} else if _, later := d.entriesByName[v.Entry.Name]; !later {
			d.entriesByName[v.Entry.Name] = v.Entry
		}
	}
}

// findFinishedPullStep finds out whether a killed pull carried out the step q of the plan that it had stored. The
// parameter d contains the changes that the pull made in the home before it was killed. If d contains the change of the
// step, findFinishedPullStep returns the step with its completed sync record. Otherwise it returns nil.
func (s *syncRun) findFinishedPullStep(q *planStep, d pullHistoryChanges) *plannedStep {
	st := &plannedStep{oldRecord: s.recordByNumber(q.ReplacedSyncRecordNumber), record: q.Record}
	if q.Record == nil {
		if !d.removedNames[q.Name] {
			return nil
		}
		st.record = &syncRecord{WasPulled: true, WasRemoved: true, RecordBeforePull: copyWithoutPullData(st.oldRecord)}
		return st
	}
	if _, ok := d.entriesByName[q.Name]; !ok {
		return nil
	}
	if e, ok := d.entriesByName[q.EntryNameInHome]; ok {
		st.record.HomeEntry = s.state.identify(&e)
	}
	if q.HasHomeChanges {
		st.record.HomeEntry.EntryHash = ""
	}
	st.record.WasPulled, st.record.RecordBeforePull = true, copyWithoutPullData(st.oldRecord)
	return st
}

// resumePush completes a push (an upload of changes to the server) that was killed. For each planned change that
// arrived on the server, it updates the record that says which version of the entry the home and the server have in
// common. It then removes the plan of the push from the state.
func (s *syncRun) resumePush(server *homeOrServerEntries) error {
	p := s.state.plan
	if p == nil || p.isPull {
		return nil
	}
	s.state.plan = nil
	for _, q := range p.steps {
		arrived, err := s.isStepDoneOnServer(q, server)
		if err != nil {
			return err
		}
		if !arrived {
			continue
		}
		s.addFinishedRecord(&plannedStep{oldRecord: s.recordByNumber(q.ReplacedSyncRecordNumber), record: q.Record})
		if s.state.homeHistoryPosition == "" {
			s.state.homeHistoryPosition = p.homeHistoryPosition
		}
	}
	s.applyRecordReplacements()
	return nil
}

// isStepDoneOnServer reports whether the server already has the change that the parameter step describes. The step
// belongs to an earlier push, which was killed before it could record whether the server made the change.
//
// If step.Record is nil, the step removes an entry. Otherwise the step writes an entry, and isStepDoneOnServer also
// sets the ID, the version and the time in step.Record. If the result found is false, the caller must not use these
// values.
func (s *syncRun) isStepDoneOnServer(step *planStep, server *homeOrServerEntries) (found bool, err error) {
	old := s.recordByNumber(step.ReplacedSyncRecordNumber)
	if step.Record == nil {
		e, isKnown := server.entriesByID[old.ID]
		return old.ID > 0 && e == nil && (isKnown || server.isComplete), nil
	}
	e := server.entriesByName[step.Record.ServerEntry.EntryName]
	if e == nil {
		return false, nil
	}
	if old != nil && s.state.entryHash(e) == old.ServerEntry.EntryHash {
		return false, nil // The server still has the old version, so the change has not arrived.
	}
	oldEntry := oxbow.Version{Seq: e.Version, Source: oxbow.Source{Time: e.Updated}}
	found = s.state.entryHash(e) == step.Record.ServerEntry.EntryHash
	// Other clients may have changed the entry after the push, so search its older versions for the content that was
	// pushed.
	if !found {
		_, _, err = s.findNewestMatchingContent(s.server, []string{e.Name}, func(v oxbow.Version) bool {
			found = v.Verb != oxbow.VerbRemove && s.state.entryHash(&v.Entry) == step.Record.ServerEntry.EntryHash
			if found {
				oldEntry = v
			}
			return found || (old != nil && v.Seq <= old.Version)
		})
	}
	step.Record.ID = e.ID
	step.Record.Version = oldEntry.Seq
	step.Record.UpdatedNanoseconds = oldEntry.Source.Time.UnixNano()
	return found, err
}

// recordByNumber returns the record with the number recordNumber, counted from 1, or nil if recordNumber is 0.
func (s *syncRun) recordByNumber(recordNumber int) *syncRecord {
	if recordNumber == 0 {
		return nil
	}
	return s.state.records[recordNumber-1]
}
