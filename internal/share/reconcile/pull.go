// This file implements pull, which merges the server's changes into the home.

package reconcile

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

func (s *syncRun) planPull() (steps []*plannedStep, err error) {
	for _, p := range s.pairs {
		if p.homeChange == entryUnchangedSinceSync && p.isRenamedOnServer() {
			delete(s.usedNames, p.homeEntry.Name)
		}
	}
	slices.SortStableFunc(s.pairs, func(a, b *entryPair) int {
		return cmp.Compare(boolToInt(a.homeEntry == nil), boolToInt(b.homeEntry == nil))
	})
	for _, p := range s.pairs {
		st, err := s.planPullStep(p)
		if err != nil {
			return nil, err
		}
		if st != nil {
			st.pair = p
			steps = append(steps, st)
		}
	}
	steps = s.dropDuplicateAliases(steps)
	// Put removals first, because another entry may need the name of a removed entry.
	slices.SortStableFunc(
		steps,
		func(a, b *plannedStep) int { return cmp.Compare(pullStepSortKey(a), pullStepSortKey(b)) },
	)
	return steps, nil
}

// isRenamedOnServer reports whether the server no longer has an entry with the name of the home's entry, because the
// server's entry was renamed or removed.
func (p *entryPair) isRenamedOnServer() bool {
	switch p.serverChange {
	case entryRemovedSinceSync:
		return true
	case entryChangedSinceSync:
		return p.serverEntry.Name != p.homeEntry.Name
	}
	return false
}

// planPullStep returns the step with which a pull updates the home for the pair p. The pair contains a home entry, the
// server entry that belongs to it, and the sync record of the two entries. The entry of one side may be missing. The
// result is nil if the pull changes neither the home's entry nor the sync record.
func (s *syncRun) planPullStep(p *entryPair) (*plannedStep, error) {
	st := &plannedStep{oldRecord: p.lastSyncRecord, record: p.trustedRecord, serverEntry: p.serverEntry}
	switch {
	case p.serverChange == entryRemovedSinceSync && p.homeChange == entryUnchangedSinceSync:
		st.record = nil
		st.ops = []oxbow.Op{oxbow.Remove{Name: p.homeEntry.Name, If: p.homeEntry.Version}}
		st.change = Change{Name: p.homeEntry.Name, Verb: oxbow.VerbRemove}
	case p.serverChange == entryRemovedSinceSync:
		// The server removed the entry. The home keeps its entry, because the home has changed it, but the sync record
		// is deleted.
		st.record = nil
	case p.serverEntry == nil || p.serverChange == entryUnchangedSinceSync:
		if p.trustedRecord != nil {
			return nil, nil
		}
	case p.homeEntry == nil:
		s.planAddToHome(st, *p.serverEntry)
	case s.state.entryHash(p.homeEntry) == s.state.entryHash(p.serverEntry):
		st.record = s.state.newPairRecord(p.serverEntry, p.homeEntry)
	case p.homeChange == entryUnchangedSinceSync:
		s.planReplaceInHome(st, p.homeEntry, *p.serverEntry)
	default:
		return st, s.planHomeMerge(st, p)
	}
	return st, nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pullStepSortKey returns a number by which steps are sorted. A removal (the op Remove alone) has the number 1. A
// rename (Remove, followed by the op that adds the entry under the new name) has the number 2. All other steps have the
// number 3.
func pullStepSortKey(s *plannedStep) int {
	if len(s.ops) > 0 {
		if _, ok := s.ops[0].(oxbow.Remove); ok {
			return len(s.ops)
		}
	}
	return 3
}

// chooseFreeHomeName returns the name that e should get in the home. If another entry in the home has e's name, it
// returns a variant of the name. currentName is the entry's present name in the home, which e may keep.
func (s *syncRun) chooseFreeHomeName(e *oxbow.Entry, currentName string) string {
	name := e.Name
	for n := 1; name != currentName && s.usedNames[name]; n++ {
		name = conflictName(e, n)
	}
	return name
}

// conflictName returns the variantNumber-th variant of the name of the entry e. A pull stores the server's entry under
// a variant if another entry in the home (the user's own store) has the name. The variant depends only on e and
// variantNumber. Therefore pulls into different homes choose the same variant. If the name is too long, conflictName
// shortens it so that the variant has at most oxbow.MaxName bytes.
func conflictName(e *oxbow.Entry, variantNumber int) string {
	end := fmt.Sprintf(" (conflict %.3x)", sha256.Sum256([]byte(e.Content)))
	if variantNumber > 1 {
		end += fmt.Sprintf(" (%d)", variantNumber)
	}
	name := e.Name
	for len(name)+len(end) > oxbow.MaxName {
		r := []rune(name)
		name = string(r[:len(r)-1])
	}
	return strings.TrimSpace(name) + end
}

// planAddToHome makes the step st add the entry e to the home. If another entry in the home has the entry's name, the
// new entry gets a variant of the name, and the change is marked as a conflict.
func (s *syncRun) planAddToHome(st *plannedStep, e oxbow.Entry) {
	st.record = s.state.newPairRecord(st.serverEntry, nil)
	name := s.chooseFreeHomeName(&e, "")
	st.hasHomeChanges = name != e.Name
	e.Name = name
	st.ops, st.change = []oxbow.Op{threeway.NewAddOp(&e)}, Change{Name: name, Verb: oxbow.VerbAdd,
		HasConflict: st.hasHomeChanges}
	st.homeEntry, st.contentBytes = &e, len(e.Content)
	s.usedNames[name] = true
}

// planReplaceInHome makes the step st replace oldEntry, an entry of the home, by e. If another entry in the home has
// the name of e, the new entry gets a variant of the name. The new entry keeps the old entry's stamps (see
// isServerStampLabel). It gets the stamps of e only if e has another content than oldEntry.
func (s *syncRun) planReplaceInHome(st *plannedStep, oldEntry *oxbow.Entry, e oxbow.Entry) {
	st.record = s.state.newPairRecord(st.serverEntry, nil)
	ls := slices.Concat(withoutServerStamps(e.Labels), keepServerStampLabels(oldEntry.Labels))
	if e.Content != oldEntry.Content {
		ls = append(ls, keepServerStampLabels(e.Labels)...)
	}
	e.Labels = oxbow.SortLabels(ls)
	name := s.chooseFreeHomeName(&e, oldEntry.Name)
	st.hasHomeChanges = st.hasHomeChanges || name != e.Name
	e.Name = name
	st.change.Name, st.change.Verb = name, oxbow.VerbUpdate
	st.ops, st.contentBytes = threeway.NewReplaceVersionOps(oldEntry, &e), len(e.Content)
	if name != oldEntry.Name {
		st.change.OldName = oldEntry.Name
	}
	s.usedNames[name] = true
	st.homeEntry = &e
}

// planHomeMerge changes the step st, so that it merges the changes that the home and the server have made to an entry.
// If merging fails or the merged entry would be invalid, the step keeps the home's entry and adds the server's entry
// under another name. The added entry has a label that reports the conflict, or no labels if it would have too many. If
// the added entry's name is already in use, the step adds no entry.
func (s *syncRun) planHomeMerge(st *plannedStep, p *entryPair) error {
	baseContent := ""
	if p.homeEntry.Content != p.serverEntry.Content {
		var err error
		baseContent, err = s.mergeBaseContent(p)
		if err != nil {
			return fmt.Errorf("looking for what both had of %q: %w", p.homeEntry.Name, err)
		}
	}
	m, err := s.mergeEntry(p, baseContent)
	if err == nil {
		err = threeway.NewAddOp(&m).Check()
	}
	if err == nil {
		st.hasHomeChanges = s.state.entryHash(&m) != s.state.entryHash(p.serverEntry)
		_, st.change.HasConflict = m.Label(threeway.LabelConflict)
		s.planReplaceInHome(st, p.homeEntry, m)
		if s.state.entryHash(&m) == s.state.entryHash(p.homeEntry) {
			st.ops = nil
			st.change = Change{}
			st.homeEntry = p.homeEntry
		}
		return nil
	}
	// The merge failed. Keep the home's entry, and store the server's entry next to it.
	e := p.serverEntry.Clone()
	e.Name, e.Aliases = conflictName(p.serverEntry, 1), nil
	e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: threeway.LabelConflict, Value: "content"}))
	if len(e.Labels) > oxbow.MaxLabels {
		e.Labels = nil
	}
	st.record = s.state.newPairRecord(p.serverEntry, nil)
	st.hasHomeChanges = true
	st.homeEntry = p.homeEntry
	if s.usedNames[oxbow.NormalName(e.Name)] {
		return nil
	}
	s.usedNames[oxbow.NormalName(e.Name)] = true
	st.ops = []oxbow.Op{threeway.NewAddOp(&e)}
	st.contentBytes = len(e.Content)
	st.change = Change{Name: e.Name, Verb: oxbow.VerbAdd, HasConflict: true}
	return nil
}

// mergeEntry merges the two versions of an entry. The merge base is the entry at the last synchronization. It consists
// of baseContent, and those aliases and labels from both versions whose hashes are in the record. The result has the
// kind of the home's version.
func (s *syncRun) mergeEntry(p *entryPair, baseContent string) (oxbow.Entry, error) {
	a, b := p.homeEntry.Clone(), p.serverEntry.Clone()
	a.Labels, b.Labels = withoutServerStamps(a.Labels), withoutServerStamps(b.Labels)
	o := oxbow.Entry{Content: baseContent}
	if r := p.trustedRecord; r != nil {
		o.Name = r.ServerEntry.EntryName
		for _, v := range slices.Concat(a.Aliases, b.Aliases) {
			if slices.Contains(r.Aliases, s.state.saltedHash(v)) && !slices.Contains(o.Aliases, v) {
				o.Aliases = append(o.Aliases, v)
			}
		}
		for _, l := range slices.Concat(a.Labels, b.Labels) {
			if slices.Contains(r.Labels, s.state.saltedHash(l.String())) && !slices.Contains(o.Labels, l) {
				o.Labels = append(o.Labels, l)
			}
		}
	}
	m, err := threeway.MergeKeepingBoth(&o, &a, &b)
	m.Kind = a.Kind
	return m, err
}

// applyPullSteps carries out the planned steps of a pull in the home, and updates the sync records of their entries. It
// splits the steps into several changes, because each change in the home contains at most maxPullChangeBytes bytes. If
// a change fails, the earlier changes stay in the home, and applyPullSteps returns the error.
//
// If the steps change any entry, applyPullSteps first discards the data for undoing the last pull. If it succeeds or
// has changed the home, it also discards the saved plan.
func (s *syncRun) applyPullSteps(steps []*plannedStep) (err error) {
	total, before := countChanges(steps), s.state.serverPosition
	if total > 0 {
		s.forgetUndoData()
	}
	var pulls []uint64
	for len(steps) > 0 && err == nil {
		part := countStepsPerChange(steps, len(steps), maxPullChangeBytes)
		var seq uint64
		seq, err = s.applyHomeChange(steps[:part])
		if seq > 0 {
			pulls = append(pulls, seq)
		}
		if s.opts.Progress != nil {
			s.opts.Progress(len(s.report.Changes), total)
		}
		steps = steps[part:]
	}
	if len(s.report.Changes) > 0 {
		s.state.lastPullChangeNumbers, s.state.serverPositionBeforePull = pulls, before
	}
	s.finishRun()
	if err == nil {
		s.state.serverPosition = s.serverPos
	}
	if err == nil || len(s.report.Changes) > 0 {
		s.state.plan = nil
	}
	return err
}

// countChanges returns how many of the planned steps change an entry. The remaining steps only change an entry's sync
// record.
func countChanges(steps []*plannedStep) (n int) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			n++
		}
	}
	return n
}

// countStepsPerChange returns how many of the planned steps, counted from the first, fit into one change. The change
// has at most the given number of items and bytes, but always at least one step.
func countStepsPerChange(steps []*plannedStep, maxSteps, maxBytes int) (n int) {
	size := 0
	for n < len(steps) && n < maxSteps && (n == 0 || size+steps[n].contentBytes <= maxBytes) {
		size += steps[n].contentBytes
		n++
	}
	return n
}

// forgetUndoData plans the removal of the data about the last pull, which is needed only to notice that somebody undid
// the pull. In s.replacementRecords, it maps each record that the last pull wrote to a copy without this data. It maps
// the record of each entry that the pull removed to nil, so that the record is deleted.
func (s *syncRun) forgetUndoData() {
	for _, r := range s.state.records {
		if r.WasRemoved {
			s.replacementRecords[r] = nil
		} else if r.WasPulled {
			s.replacementRecords[r] = copyWithoutPullData(r)
		}
	}
}

// applyHomeChange applies the planned steps as one change in the home, and returns the number of the change. The
// number is 0 if nothing had to be changed, or if the home leaves its changes unnumbered.
func (s *syncRun) applyHomeChange(steps []*plannedStep) (seq uint64, err error) {
	var ops []oxbow.Op
	for _, st := range steps {
		ops = append(ops, st.ops...)
	}
	written := map[string]*oxbow.Entry{}
	if len(ops) > 0 {
		change, err := oxbow.Commit(s.ctx, s.home, sortRemovalsFirst(ops)...)
		if err != nil {
			return 0, err
		}
		for i := range change.Versions {
			written[oxbow.NormalName(change.Versions[i].Entry.Name)] = &change.Versions[i].Entry
		}
		seq = change.Seq
	}
	for _, st := range steps {
		s.recordPulledStep(st, written)
		if len(st.ops) > 0 {
			s.report.Changes = append(s.report.Changes, st.change)
		}
	}
	return seq, nil
}

// sortRemovalsFirst sorts operations, so that a name becomes free before another entry gets it.
func sortRemovalsFirst(ops []oxbow.Op) []oxbow.Op {
	out := slices.Clone(ops)
	slices.SortStableFunc(out, func(a, b oxbow.Op) int { return cmp.Compare(removalSortKey(a), removalSortKey(b)) })
	return out
}

func removalSortKey(op oxbow.Op) int {
	switch op.(type) {
	case oxbow.Remove:
		return 0
	case oxbow.Add:
		return 2
	}
	return 1
}

// copyWithoutPullData returns a copy of the sync record r without the fields WasPulled and RecordBeforePull. A later
// synchronization uses these fields to recognize that a person has undone the last pull. If r is nil, the result is
// nil.
func copyWithoutPullData(r *syncRecord) *syncRecord {
	if r == nil {
		return nil
	}
	b := *r
	b.WasPulled, b.RecordBeforePull = false, nil
	return &b
}

// recordPulledStep completes the sync record of a step, after the pull made this step. If the step has no record but
// changed something, recordPulledStep creates a record which says that the entry was removed. The map writtenEntries
// contains the entries that the pull wrote, by name, as the memory on this computer (the home) stored them. They may
// differ from the planned entries, because this memory may have redacted an entry or added labels.
func (s *syncRun) recordPulledStep(st *plannedStep, writtenEntries map[string]*oxbow.Entry) {
	defer s.addFinishedRecord(st)
	if st.record == nil {
		if len(st.ops) > 0 && st.oldRecord != nil {
			st.record = &syncRecord{
				WasPulled:        true,
				WasRemoved:       true,
				RecordBeforePull: copyWithoutPullData(st.oldRecord),
			}
		}
		return
	}
	if st.homeEntry != nil {
		e := writtenEntries[oxbow.NormalName(st.homeEntry.Name)]
		if e == nil {
			// The pull did not change this entry, or the home (the memory on this computer) does not return the
			// entries that it wrote.
			e = st.homeEntry
		}
		st.record.HomeEntry = s.state.identify(e)
		if st.hasHomeChanges {
			st.record.HomeEntry.EntryHash = ""
		}
	}
	if len(st.ops) > 0 {
		st.record.WasPulled, st.record.RecordBeforePull = true, copyWithoutPullData(st.oldRecord)
	}
}

// lastHomeChangeSeq returns the number of the last change in the home, or 0 if it is unknown.
func (s *syncRun) lastHomeChangeSeq() uint64 {
	if c := oxbow.CapabilitiesOf(s.exactNameHomeStore).Counter; c != nil {
		if stats, err := c.Stats(s.ctx); err == nil {
			return stats.Last
		}
	}
	return 0
}
