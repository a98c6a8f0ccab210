// This file implements push, which sends the home's changes to the server together with the
// versions that the server is expected to have.

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

func (s *session) planPush() (steps []*step) {
	s.unpulled = map[string]string{}
	for _, p := range s.pairs {
		if p.there == changed && p.server != nil {
			for _, a := range p.server.Aliases {
				s.unpulled[oxbow.NormalName(a)] = p.server.Name
			}
		}
	}
	for _, p := range s.pairs {
		if st := s.pushStep(p); st != nil {
			steps = append(steps, st)
		}
	}
	slices.SortStableFunc(steps, func(a, b *step) int { return cmp.Compare(stepRank(a), stepRank(b)) })
	return steps
}

// pushStep returns the step of a push for a pair, or nil if the push changes nothing.
func (s *session) pushStep(p *pair) *step {
	st := &step{old: p.old, record: p.record, entry: p.home}
	switch {
	case p.there == changed:
		return s.pushBehind(st, p)
	case p.here == gone && p.there == gone:
		st.record = nil
	case p.there == gone && p.here != changed:
		s.rep.Behind++
		if p.old == nil || p.record != nil {
			return nil
		}
	case p.here == gone:
		st.record = nil
		st.ops = []oxbow.Op{oxbow.Remove{Name: p.record.Server.Name, If: p.record.Version}}
		st.change = Change{Name: p.record.Server.Name, Verb: oxbow.VerbRemove}
	case p.here == changed:
		if !s.planSend(st, p) {
			return nil
		}
	default:
		return nil
	}
	return st
}

// pushBehind is like pushStep, for an entry that the server has also changed.
func (s *session) pushBehind(st *step, p *pair) *step {
	if p.home != nil && p.server != nil && s.st.entryHash(p.home) == s.st.entryHash(p.server) {
		st.record = s.st.pairRecord(p.server, p.home)
		return st
	}
	s.rep.Behind++
	if p.here == changed {
		s.rep.Waiting = append(s.rep.Waiting, Problem{p.home.Name, ErrBoth})
		return nil
	}
	if p.old == nil || p.record != nil {
		return nil
	}
	s.st.server = "" // read the whole server next time, to find the entry of this record
	return st
}

// planSend plans to send the home's entry to the server. It returns false if the entry is blocked
// or must be pulled first.
func (s *session) planSend(st *step, p *pair) bool {
	if s.o.Blocked != nil {
		if err := s.o.Blocked(p.home); err != nil {
			s.rep.Kept = append(s.rep.Kept, Problem{p.home.Name, err})
			return false
		}
	}
	e := p.home.Clone()
	for _, a := range e.Aliases {
		if owner, ok := s.unpulled[oxbow.NormalName(a)]; ok { // the next pull decides which entry keeps the alias
			err := fmt.Errorf("on the server, %q is an alias of %q; a pull decides that the older entry keeps it", a, owner)
			s.rep.Waiting = append(s.rep.Waiting, Problem{e.Name, err})
			return false
		}
	}
	e.Labels = withoutStamps(e.Labels)
	st.size, st.change = len(e.Content), Change{Name: e.Name, Verb: oxbow.VerbAdd}
	if p.record == nil || p.there == gone {
		st.ops = []oxbow.Op{addOperation(e)}
	} else {
		was := p.record.Server
		st.ops, st.change.Verb = replaceOperations(was.Name, was.Kind, p.record.Version, e), oxbow.VerbUpdate
		if was.Name != e.Name {
			st.change.Was = was.Name
		}
	}
	st.record = s.st.pairRecord(&e, &e)
	st.record.ID = 0
	st.record.Version = 0
	st.record.Updated = 0 // the next run reads the ID, version and time from the server
	return true
}

// applyPush sends the changes and updates the records.
func (s *session) applyPush(steps []*step) error {
	total := countChanges(steps)
	var failed error
	for len(steps) > 0 {
		some := firstSteps(steps, pushItems, pushBytes)
		failed = s.sendSome(steps[:some])
		if failed != nil {
			break
		}
		if s.o.Progress != nil {
			s.o.Progress(len(s.rep.Changes), total)
		}
		steps = steps[some:]
	}
	s.finish()
	if s.st.plan != nil {
		s.st.plan = nil
		if failed != nil { // even a failed request may have reached the server
			s.st.plan = s.unfinishedPush(steps)
		}
	}
	if failed == nil && s.rep.Behind == 0 && len(s.rep.Waiting) == 0 {
		s.st.server = s.serverPos
	}
	if len(s.rep.Changes) > 0 {
		s.learnVersions()
	}
	return failed
}

// learnVersions asks the server for the IDs and versions of the entries that were sent. Without
// them, a later run could not tell whether the server removed an entry or never received it. If the
// server does not answer, the next run reads them. If no other client wrote in the meantime, the
// next run reads only changes after the push.
func (s *session) learnVersions() {
	before, d := s.serverPos, newSide()
	now, err := s.askPosition()
	if err != nil || before == "" {
		return
	}
	s.serverPos = now
	if s.readSince(d, before) != nil {
		return
	}
	ids, names := map[uint64]bool{}, map[string]*record{}
	for _, r := range s.st.records {
		if !r.Gone {
			ids[r.ID], names[r.Server.Name] = true, r
		}
	}
	own := s.st.server == before
	for id, e := range d.byID {
		switch {
		case e == nil:
			own = own && !ids[id]
		case names[e.Name] != nil && s.st.entryHash(e) == names[e.Name].Server.Hash:
			r := names[e.Name]
			r.ID = e.ID
			r.Version = e.Version
			r.Updated = e.Updated.UnixNano()
		default:
			own = false
		}
	}
	if own {
		s.st.server = now
	}
}

// sendSome sends the steps as a single change. If the server refuses the change, sendSome sends
// smaller parts.
func (s *session) sendSome(steps []*step) error {
	var ops []oxbow.Op
	for _, st := range steps {
		ops = append(ops, st.ops...)
	}
	var err error
	if len(ops) > 0 {
		err = s.server.Apply(s.ctx, removalsFirst(ops)...)
	}
	moved := errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound)
	switch {
	case err == nil:
		for _, st := range steps {
			s.noteRecord(st)
			if len(st.ops) > 0 {
				s.rep.Changes = append(s.rep.Changes, st.change)
			}
		}
		return nil
	case !moved && !errors.Is(err, oxbow.ErrInvalid):
		return err
	case len(steps) > 1:
		half := len(steps) / 2
		if err := s.sendSome(steps[:half]); err != nil {
			return err
		}
		return s.sendSome(steps[half:])
	case moved:
		err = ErrBoth
	}
	s.rep.Waiting = append(s.rep.Waiting, Problem{steps[0].change.Name, err})
	return nil
}
