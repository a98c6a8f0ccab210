// This file implements pull, which merges the server's changes into the home.

package reconcile

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/team"
)

// labelConflict is the key of a label on entries that conflict: both versions of the entry were
// kept.
const labelConflict = "conflict"

func (s *session) planPull() (steps []*step, err error) {
	for _, p := range s.pairs {
		if p.here == unchanged && (p.there == gone || (p.there == changed && p.server.Name != p.home.Name)) {
			delete(s.taken, p.home.Name)
		}
	}
	slices.SortStableFunc(s.pairs, func(a, b *pair) int {
		return cmp.Compare(asInt(a.home == nil), asInt(b.home == nil))
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
	steps = s.settleAliases(steps)
	// Sort removals first, because another entry may need the name.
	slices.SortStableFunc(steps, func(a, b *step) int { return cmp.Compare(stepRank(a), stepRank(b)) })
	return steps, nil
}

// pullStep returns the step of a pull for a pair, or nil if the pull changes nothing.
func (s *session) pullStep(p *pair) (*step, error) {
	st := &step{old: p.old, record: p.record, met: p.server}
	switch {
	case p.there == gone && p.here == unchanged:
		st.record = nil
		st.ops = []oxbow.Op{oxbow.Remove{Name: p.home.Name, If: p.home.Version}}
		st.change = Change{Name: p.home.Name, Verb: oxbow.VerbRemove}
	case p.there == gone:
		st.record = nil // a change in the home wins over the removal
	case p.server == nil || p.there == unchanged:
		if p.record != nil {
			return nil, nil
		}
	case p.home == nil:
		s.add(st, *p.server)
	case s.st.entryHash(p.home) == s.st.entryHash(p.server):
		st.record = s.st.pairRecord(p.server, p.home)
	case p.here == unchanged:
		s.planPut(st, p.home, *p.server)
	default:
		return st, s.merge(st, p)
	}
	return st, nil
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stepRank returns the order of a step: removals are first, then renames, then all other steps.
func stepRank(s *step) int {
	if len(s.ops) > 0 {
		if _, ok := s.ops[0].(oxbow.Remove); ok {
			return len(s.ops)
		}
	}
	return 3
}

// freeName returns the name of e, or a variant if another entry of the home has the name. own is
// the present name of the entry.
func (s *session) freeName(e *oxbow.Entry, own string) string {
	name := e.Name
	for n := 1; name != own && s.taken[name]; n++ {
		name = besideName(e, n)
	}
	return name
}

// besideName returns the n-th possible name for a version of an entry that is stored next to
// another version. All homes use the same names.
func besideName(e *oxbow.Entry, n int) string {
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

// add plans to add the entry e to the home.
func (s *session) add(st *step, e oxbow.Entry) {
	st.record = s.st.pairRecord(st.met, nil)
	name := s.freeName(&e, "")
	st.stay = name != e.Name
	e.Name = name
	st.ops, st.change = []oxbow.Op{addOperation(e)}, Change{Name: name, Verb: oxbow.VerbAdd, Conflict: st.stay}
	st.entry, st.size = &e, len(e.Content)
	s.taken[name] = true
}

func addOperation(e oxbow.Entry) oxbow.Add {
	return oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels,
		Created: e.Created}
}

// planPut plans to change an entry of the home to e.
func (s *session) planPut(st *step, old *oxbow.Entry, e oxbow.Entry) {
	st.record = s.st.pairRecord(st.met, nil)
	ls := slices.Concat(withoutStamps(e.Labels), pullStamps(old.Labels))
	if e.Content != old.Content {
		ls = append(ls, pullStamps(e.Labels)...)
	}
	e.Labels = oxbow.SortLabels(ls)
	name := s.freeName(&e, old.Name)
	st.stay = st.stay || name != e.Name
	e.Name = name
	st.change.Name, st.change.Verb = name, oxbow.VerbUpdate
	st.ops, st.size = replaceOperations(old.Name, old.Kind, old.Version, e), len(e.Content)
	if name != old.Name {
		st.change.Was = old.Name
	}
	s.taken[name] = true
	st.entry = &e
}

// replaceOperations returns the operations that turn the named entry into e. They fail if the entry
// has a different version.
func replaceOperations(name string, kind oxbow.Kind, version uint64, e oxbow.Entry) []oxbow.Op {
	if e.Name == name && e.Kind == kind {
		return []oxbow.Op{
			oxbow.Update{Name: name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: version},
		}
	}
	return []oxbow.Op{oxbow.Remove{Name: name, If: version}, addOperation(e)}
}

// merge plans to merge the changes that both sides made to an entry.
func (s *session) merge(st *step, p *pair) error {
	before := ""
	if p.home.Content != p.server.Content {
		var err error
		before, err = s.contentBefore(p)
		if err != nil {
			return fmt.Errorf("looking for what both had of %q: %w", p.home.Name, err)
		}
	}
	m, err := s.mergedEntry(p, before)
	if err == nil {
		err = addOperation(m).Check()
	}
	if err == nil {
		st.stay = s.st.entryHash(&m) != s.st.entryHash(p.server)
		_, st.change.Conflict = m.Label(labelConflict)
		s.planPut(st, p.home, m)
		if s.st.entryHash(&m) == s.st.entryHash(p.home) {
			st.ops = nil
			st.change = Change{}
			st.entry = p.home
		}
		return nil
	}
	// If the merge fails, keep the home's entry and store the server's next to it.
	e := p.server.Clone()
	e.Name, e.Aliases = besideName(p.server, 1), nil
	e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: labelConflict, Value: "content"}))
	if len(e.Labels) > oxbow.MaxLabels {
		e.Labels = nil
	}
	st.record = s.st.pairRecord(p.server, nil)
	st.stay = true
	st.entry = p.home
	if s.taken[oxbow.NormalName(e.Name)] {
		return nil
	}
	s.taken[oxbow.NormalName(e.Name)] = true
	st.ops = []oxbow.Op{addOperation(e)}
	st.size = len(e.Content)
	st.change = Change{Name: e.Name, Verb: oxbow.VerbAdd, Conflict: true}
	return nil
}

// mergedEntry merges both versions of an entry. The base of the merge is the content before, and
// the aliases and labels of which the record has hashes.
func (s *session) mergedEntry(p *pair, before string) (oxbow.Entry, error) {
	a, b := p.home.Clone(), p.server.Clone()
	a.Labels, b.Labels = withoutStamps(a.Labels), withoutStamps(b.Labels)
	o := oxbow.Entry{Content: before}
	if r := p.record; r != nil {
		o.Name = r.Server.Name
		for _, v := range slices.Concat(a.Aliases, b.Aliases) {
			if slices.Contains(r.Aliases, s.st.hash(v)) && !slices.Contains(o.Aliases, v) {
				o.Aliases = append(o.Aliases, v)
			}
		}
		for _, l := range slices.Concat(a.Labels, b.Labels) {
			if slices.Contains(r.Labels, s.st.hash(l.String())) && !slices.Contains(o.Labels, l) {
				o.Labels = append(o.Labels, l)
			}
		}
	}
	m, err := team.MergeEntries(&o, &a, &b)
	m.Kind = a.Kind
	return m, err
}

// applyPull changes the home and updates the records.
func (s *session) applyPull(steps []*step) (err error) {
	total, before := countChanges(steps), s.st.server
	if total > 0 {
		s.forgetPull()
	}
	var pulls []uint64
	for len(steps) > 0 && err == nil {
		some := firstSteps(steps, len(steps), pullBytes)
		var seq uint64
		seq, err = s.makePull(steps[:some])
		if seq > 0 {
			pulls = append(pulls, seq)
		}
		if s.o.Progress != nil {
			s.o.Progress(len(s.rep.Changes), total)
		}
		steps = steps[some:]
	}
	if len(s.rep.Changes) > 0 {
		s.st.pulls, s.st.before = pulls, before
	}
	s.finish()
	if err == nil {
		s.st.server = s.serverPos
	}
	if err == nil || len(s.rep.Changes) > 0 {
		s.st.plan = nil
	}
	return err
}

// countChanges returns the number of steps that change an entry.
func countChanges(steps []*step) (n int) {
	for _, st := range steps {
		if len(st.ops) > 0 {
			n++
		}
	}
	return n
}

// firstSteps returns the number of steps that fit into a change of at most items entries and bytes
// bytes. It returns at least 1.
func firstSteps(steps []*step, items, bytes int) (n int) {
	size := 0
	for n < len(steps) && n < items && (n == 0 || size+steps[n].size <= bytes) {
		size += steps[n].size
		n++
	}
	return n
}

// forgetPull deletes all information about the previous pull from the records.
func (s *session) forgetPull() {
	for _, r := range s.st.records {
		if r.Gone {
			s.settled[r] = nil
		} else if r.Pulled {
			s.settled[r] = withoutPull(r)
		}
	}
}

// makePull makes one change in the home and returns its number. The number is 0 if the home was
// already up to date, or if the home does not number its changes.
func (s *session) makePull(steps []*step) (seq uint64, err error) {
	var ops []oxbow.Op
	for _, st := range steps {
		ops = append(ops, st.ops...)
	}
	written := map[string]*oxbow.Entry{}
	if len(ops) > 0 {
		made, err := oxbow.Commit(s.ctx, s.home, removalsFirst(ops)...)
		if err != nil {
			return 0, err
		}
		for i := range made.Versions {
			written[oxbow.NormalName(made.Versions[i].Entry.Name)] = &made.Versions[i].Entry
		}
		seq = made.Seq
	}
	for _, st := range steps {
		s.settlePulled(st, written)
		if len(st.ops) > 0 {
			s.rep.Changes = append(s.rep.Changes, st.change)
		}
	}
	return seq, nil
}

// removalsFirst sorts operations so that a name is free before another entry gets it.
func removalsFirst(ops []oxbow.Op) []oxbow.Op {
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

// withoutPull returns a copy of the record without information about the last pull.
func withoutPull(r *record) *record {
	if r == nil {
		return nil
	}
	b := *r
	b.Pulled, b.Before = false, nil
	return &b
}

// settlePulled records a finished step in the state. written contains the entries that the pull
// wrote, by name, as the home stored them, because the home may have redacted them or added labels.
func (s *session) settlePulled(st *step, written map[string]*oxbow.Entry) {
	defer s.noteRecord(st)
	if st.record == nil {
		if len(st.ops) > 0 && st.old != nil {
			st.record = &record{Pulled: true, Gone: true, Before: withoutPull(st.old)}
		}
		return
	}
	if st.entry != nil {
		e := written[oxbow.NormalName(st.entry.Name)]
		if e == nil {
			e = st.entry // the pull did not change the entry, or the home does not report written entries
		}
		st.record.Home = s.st.met(e)
		if st.stay {
			st.record.Home.Hash = ""
		}
	}
	if len(st.ops) > 0 {
		st.record.Pulled, st.record.Before = true, withoutPull(st.old)
	}
}

// lastChange returns the number of the home's last change, or 0 if it is unknown.
func (s *session) lastChange() uint64 {
	if c, ok := s.exact.(oxbow.Counter); ok {
		if stats, err := c.Stats(s.ctx); err == nil {
			return stats.Last
		}
	}
	return 0
}
