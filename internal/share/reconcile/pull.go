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
		if p.homeChange == sideUnchanged && p.losesName() {
			delete(s.usedNames, p.home.Name)
		}
	}
	slices.SortStableFunc(s.pairs, func(a, b *entryPair) int {
		return cmp.Compare(boolToInt(a.home == nil), boolToInt(b.home == nil))
	})
	for _, p := range s.pairs {
		st, err := s.pullStep(p)
		if err != nil {
			return nil, err
		}
		if st != nil {
			st.pair = p
			steps = append(steps, st)
		}
	}
	steps = s.resolveAliases(steps)
	// Sort removals first, because another entry may need the name.
	slices.SortStableFunc(steps, func(a, b *plannedStep) int { return cmp.Compare(stepOrder(a), stepOrder(b)) })
	return steps, nil
}

// losesName reports whether the server's entry no longer has the name of the home's entry.
func (p *entryPair) losesName() bool {
	switch p.serverChange {
	case sideRemoved:
		return true
	case sideChanged:
		return p.server.Name != p.home.Name
	}
	return false
}

// pullStep returns the step of a pull for a pair, or nil if the pull changes nothing.
func (s *syncRun) pullStep(p *entryPair) (*plannedStep, error) {
	st := &plannedStep{oldRecord: p.oldRecord, record: p.record, serverEntry: p.server}
	switch {
	case p.serverChange == sideRemoved && p.homeChange == sideUnchanged:
		st.record = nil
		st.ops = []oxbow.Op{oxbow.Remove{Name: p.home.Name, If: p.home.Version}}
		st.change = Change{Name: p.home.Name, Verb: oxbow.VerbRemove}
	case p.serverChange == sideRemoved:
		st.record = nil // the home changed the entry, so it is kept although the server removed it
	case p.server == nil || p.serverChange == sideUnchanged:
		if p.record != nil {
			return nil, nil
		}
	case p.home == nil:
		s.planAdd(st, *p.server)
	case s.state.entryHash(p.home) == s.state.entryHash(p.server):
		st.record = s.state.pairRecord(p.server, p.home)
	case p.homeChange == sideUnchanged:
		s.planReplace(st, p.home, *p.server)
	default:
		return st, s.planMerge(st, p)
	}
	return st, nil
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stepOrder returns the order of a step: removals are first, then renames, then all other steps.
func stepOrder(s *plannedStep) int {
	if len(s.ops) > 0 {
		if _, ok := s.ops[0].(oxbow.Remove); ok {
			return len(s.ops)
		}
	}
	return 3
}

// chooseFreeName returns the name of e. If another entry in the home has this name, it returns a variant
// of the name. own is the present name of the entry, which counts as free.
func (s *syncRun) chooseFreeName(e *oxbow.Entry, own string) string {
	name := e.Name
	for n := 1; name != own && s.usedNames[name]; n++ {
		name = conflictName(e, n)
	}
	return name
}

// conflictName returns the n-th possible name for a version of an entry that is stored next to
// another version. All homes choose the same names.
func conflictName(e *oxbow.Entry, n int) string {
	end := fmt.Sprintf(" (conflict %.3x)", sha256.Sum256([]byte(e.Content)))
	if n > 1 {
		end += fmt.Sprintf(" (%d)", n)
	}
	name := e.Name
	for len(name)+len(end) > oxbow.MaxName {
		r := []rune(name)
		name = string(r[:len(r)-1])
	}
	return strings.TrimSpace(name) + end
}

// planAdd plans to add the entry e to the home.
func (s *syncRun) planAdd(st *plannedStep, e oxbow.Entry) {
	st.record = s.state.pairRecord(st.serverEntry, nil)
	name := s.chooseFreeName(&e, "")
	st.hasHomeChanges = name != e.Name
	e.Name = name
	st.ops, st.change = []oxbow.Op{threeway.AddOp(&e)}, Change{Name: name, Verb: oxbow.VerbAdd,
		HasConflict: st.hasHomeChanges}
	st.homeEntry, st.size = &e, len(e.Content)
	s.usedNames[name] = true
}

// planReplace plans to change an entry of the home to e.
func (s *syncRun) planReplace(st *plannedStep, oldEntry *oxbow.Entry, e oxbow.Entry) {
	st.record = s.state.pairRecord(st.serverEntry, nil)
	ls := slices.Concat(withoutStamps(e.Labels), onlyStamps(oldEntry.Labels))
	if e.Content != oldEntry.Content {
		ls = append(ls, onlyStamps(e.Labels)...)
	}
	e.Labels = oxbow.SortLabels(ls)
	name := s.chooseFreeName(&e, oldEntry.Name)
	st.hasHomeChanges = st.hasHomeChanges || name != e.Name
	e.Name = name
	st.change.Name, st.change.Verb = name, oxbow.VerbUpdate
	st.ops, st.size = threeway.ReplaceOps(oldEntry, &e), len(e.Content)
	if name != oldEntry.Name {
		st.change.OldName = oldEntry.Name
	}
	s.usedNames[name] = true
	st.homeEntry = &e
}

// planMerge plans to merge the changes that both sides made to an entry. If the merged entry would be invalid, it
// plans to keep the home's entry and to add the server's entry under another name, with a label for the conflict.
func (s *syncRun) planMerge(st *plannedStep, p *entryPair) error {
	baseContent := ""
	if p.home.Content != p.server.Content {
		var err error
		baseContent, err = s.baseContent(p)
		if err != nil {
			return fmt.Errorf("looking for what both had of %q: %w", p.home.Name, err)
		}
	}
	m, err := s.mergeEntry(p, baseContent)
	if err == nil {
		err = threeway.AddOp(&m).Check()
	}
	if err == nil {
		st.hasHomeChanges = s.state.entryHash(&m) != s.state.entryHash(p.server)
		_, st.change.HasConflict = m.Label(threeway.LabelConflict)
		s.planReplace(st, p.home, m)
		if s.state.entryHash(&m) == s.state.entryHash(p.home) {
			st.ops = nil
			st.change = Change{}
			st.homeEntry = p.home
		}
		return nil
	}
	// If the merge fails, keep the home's entry and store the server's next to it.
	e := p.server.Clone()
	e.Name, e.Aliases = conflictName(p.server, 1), nil
	e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: threeway.LabelConflict, Value: "content"}))
	if len(e.Labels) > oxbow.MaxLabels {
		e.Labels = nil
	}
	st.record = s.state.pairRecord(p.server, nil)
	st.hasHomeChanges = true
	st.homeEntry = p.home
	if s.usedNames[oxbow.NormalName(e.Name)] {
		return nil
	}
	s.usedNames[oxbow.NormalName(e.Name)] = true
	st.ops = []oxbow.Op{threeway.AddOp(&e)}
	st.size = len(e.Content)
	st.change = Change{Name: e.Name, Verb: oxbow.VerbAdd, HasConflict: true}
	return nil
}

// mergeEntry merges both versions of an entry. The merge base consists of baseContent, and the
// aliases and labels whose hashes are in the record.
func (s *syncRun) mergeEntry(p *entryPair, baseContent string) (oxbow.Entry, error) {
	a, b := p.home.Clone(), p.server.Clone()
	a.Labels, b.Labels = withoutStamps(a.Labels), withoutStamps(b.Labels)
	o := oxbow.Entry{Content: baseContent}
	if r := p.record; r != nil {
		o.Name = r.Server.Name
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

// applyPull makes the planned changes in the home, in parts of at most pullBytes, and updates the records. If a part
// fails, the earlier parts stay in the home, and the error is returned.
func (s *syncRun) applyPull(steps []*plannedStep) (err error) {
	total, before := countChanges(steps), s.state.serverPosition
	if total > 0 {
		s.clearPullInfo()
	}
	var pulls []uint64
	for len(steps) > 0 && err == nil {
		part := countFittingSteps(steps, len(steps), pullBytes)
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
		s.state.pullChanges, s.state.serverBeforePull = pulls, before
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

// countChanges returns the number of steps that change an entry; other steps only update records.
func countChanges(steps []*plannedStep) (n int) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			n++
		}
	}
	return n
}

// countFittingSteps returns how many steps fit into a change with at most items entries and
// bytes bytes. It returns at least 1.
func countFittingSteps(steps []*plannedStep, items, bytes int) (n int) {
	size := 0
	for n < len(steps) && n < items && (n == 0 || size+steps[n].size <= bytes) {
		size += steps[n].size
		n++
	}
	return n
}

// clearPullInfo deletes the records' information about the last pull, which is needed to notice that
// the pull was undone.
func (s *syncRun) clearPullInfo() {
	for _, r := range s.state.records {
		if r.WasRemoved {
			s.replacements[r] = nil
		} else if r.WasPulled {
			s.replacements[r] = withoutPullInfo(r)
		}
	}
}

// applyHomeChange makes one change in the home and returns its number. The number is 0 if the home was
// already up to date, or if the home does not number its changes.
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

// sortRemovalsFirst sorts operations so that a name is free before another entry gets it.
func sortRemovalsFirst(ops []oxbow.Op) []oxbow.Op {
	out := slices.Clone(ops)
	slices.SortStableFunc(out, func(a, b oxbow.Op) int { return cmp.Compare(opOrder(a), opOrder(b)) })
	return out
}

func opOrder(op oxbow.Op) int {
	switch op.(type) {
	case oxbow.Remove:
		return 0
	case oxbow.Add:
		return 2
	}
	return 1
}

// withoutPullInfo returns a copy of the record without information about the last pull.
func withoutPullInfo(r *syncRecord) *syncRecord {
	if r == nil {
		return nil
	}
	b := *r
	b.WasPulled, b.BeforePull = false, nil
	return &b
}

// recordPulledStep records a finished step in the state. written contains the entries that the pull
// wrote, by name. The entries are as the home stored them, because the home may have redacted an
// entry or added labels.
func (s *syncRun) recordPulledStep(st *plannedStep, written map[string]*oxbow.Entry) {
	defer s.queueRecord(st)
	if st.record == nil {
		if len(st.ops) > 0 && st.oldRecord != nil {
			st.record = &syncRecord{WasPulled: true, WasRemoved: true, BeforePull: withoutPullInfo(st.oldRecord)}
		}
		return
	}
	if st.homeEntry != nil {
		e := written[oxbow.NormalName(st.homeEntry.Name)]
		if e == nil {
			e = st.homeEntry // the entry stayed the same, or the home does not report written entries
		}
		st.record.Home = s.state.identify(e)
		if st.hasHomeChanges {
			st.record.Home.Hash = ""
		}
	}
	if len(st.ops) > 0 {
		st.record.WasPulled, st.record.BeforePull = true, withoutPullInfo(st.oldRecord)
	}
}

// lastHomeChange returns the number of the home's last change, or 0 if it is unknown.
func (s *syncRun) lastHomeChange() uint64 {
	if c := oxbow.CapabilitiesOf(s.exactHome).Counter; c != nil {
		if stats, err := c.Stats(s.ctx); err == nil {
			return stats.Last
		}
	}
	return 0
}
