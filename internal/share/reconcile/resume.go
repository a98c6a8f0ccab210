// This file determines which changes a killed run made. Otherwise the next run would mistake them
// for changes of both sides.

package reconcile

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow"
)

// stampContext adds a session ID to the context, unless it has one. With the ID, the changes of
// this pull can be found in the home's history.
func (s *session) stampContext() error {
	src, _ := oxbow.SourceFrom(s.ctx)
	if src.Session == "" {
		b := make([]byte, 8)
		if _, err := io.ReadFull(s.o.Rand, b); err != nil {
			return fmt.Errorf("making an id: %w", err)
		}
		src.Session = hex.EncodeToString(b)
		s.ctx = oxbow.WithSource(s.ctx, src)
	}
	s.mark = mark{After: s.lastChange(), Session: src.Session, Note: oxbow.NoteFrom(s.ctx)}
	return nil
}

// announcePull stores the plan of the steps in the state and lets the caller write it.
func (s *session) announcePull(steps []*step) error {
	if s.o.Record == nil || countChanges(steps) == 0 {
		return nil
	}
	if err := s.stampContext(); err != nil {
		return err
	}
	s.st.plan = s.unfinishedPull(steps)
	return s.o.Record()
}

// announcePush is like announcePull, for the steps of a push.
func (s *session) announcePush(steps []*step) error {
	if s.o.Record == nil || countChanges(steps) == 0 {
		return nil
	}
	s.st.plan = s.unfinishedPush(steps)
	return s.o.Record()
}

// unfinishedPull returns a plan with the remaining steps of a pull that change an entry.
func (s *session) unfinishedPull(steps []*step) *plan {
	unfinished := unfinishedSteps(steps)
	p := s.unfinishedPush(steps)
	p.pull = true
	for i, q := range p.steps {
		st := unfinished[i]
		if st.record != nil && st.entry != nil {
			r := *st.record
			r.Home = s.st.met(st.entry)
			q.At, q.Record = st.entry.Name, &r
		}
	}
	return p
}

// unfinishedSteps returns the steps that change an entry and are not done.
func unfinishedSteps(steps []*step) (unfinished []*step) {
	for _, st := range steps {
		hasRecord := st.record != nil || st.old != nil
		if len(st.ops) > 0 && hasRecord && !st.done {
			unfinished = append(unfinished, st)
		}
	}
	return unfinished
}

// unfinishedPush returns a plan with the remaining steps of a push that change an entry. A step
// refers to its record by number.
func (s *session) unfinishedPush(steps []*step) *plan {
	number := map[*record]int{}
	for i, r := range s.st.records {
		number[r] = i + 1
	}
	p := &plan{home: s.homePos, mark: s.mark}
	for _, st := range unfinishedSteps(steps) {
		p.steps = append(p.steps, &planStep{
			Old:    number[st.old],
			Name:   st.change.Name,
			Stay:   st.stay,
			Record: st.record,
		})
	}
	return p
}

// resumePull updates the state with the changes of a killed pull, which it finds in the home's
// history.
func (s *session) resumePull() error {
	p := s.st.plan
	if p == nil || !p.pull {
		return nil
	}
	s.st.plan = nil
	h, err := oxbow.HistoryOf(s.home)
	if err != nil {
		return nil
	}
	d := pullChanges{entries: map[string]oxbow.Entry{}, removed: map[string]bool{}}
	for c, err := range h.Log(s.ctx) {
		if err != nil {
			return err
		}
		if c.Seq <= p.mark.After {
			break
		}
		if c.Source.Session == p.mark.Session && c.Note == p.mark.Note && len(c.Reverts) == 0 {
			d.add(c)
		}
	}
	if len(d.seqs) == 0 {
		return nil
	}
	s.forgetPull()
	for _, q := range p.steps {
		if st := s.donePull(q, d); st != nil {
			s.noteRecord(st)
		}
	}
	s.takeSettled()
	s.st.pulls, s.st.before = d.seqs, s.st.server
	if s.st.home == "" {
		s.st.home = p.home
	}
	return nil
}

// pullChanges contains the changes of a pull, as found in the history.
type pullChanges struct {
	seqs    []uint64 // ascending
	entries map[string]oxbow.Entry
	removed map[string]bool
}

// add adds a change. The changes must be added from the newest to the oldest.
func (d *pullChanges) add(c oxbow.Change) {
	d.seqs = append([]uint64{c.Seq}, d.seqs...)
	for _, v := range c.Versions {
		if v.Verb == oxbow.VerbRemove {
			d.removed[v.Entry.Name] = true
		} else if _, later := d.entries[v.Entry.Name]; !later {
			d.entries[v.Entry.Name] = v.Entry
		}
	}
}

// donePull returns the step for a planned step of a pull, or nil if the pull did not make the
// change.
func (s *session) donePull(q *planStep, d pullChanges) *step {
	st := &step{old: s.recordByNumber(q.Old), record: q.Record}
	if q.Record == nil {
		if !d.removed[q.Name] {
			return nil
		}
		st.record = &record{Pulled: true, Gone: true, Before: withoutPull(st.old)}
		return st
	}
	if _, ok := d.entries[q.Name]; !ok {
		return nil
	}
	if e, ok := d.entries[q.At]; ok {
		st.record.Home = s.st.met(&e)
	}
	if q.Stay {
		st.record.Home.Hash = ""
	}
	st.record.Pulled, st.record.Before = true, withoutPull(st.old)
	return st
}

// resumePush updates the state with the changes of a killed push, which it finds on the server.
func (s *session) resumePush(server *side) error {
	p := s.st.plan
	if p == nil || p.pull {
		return nil
	}
	s.st.plan = nil
	for _, q := range p.steps {
		arrived, err := s.hasArrived(q, server)
		if err != nil {
			return err
		}
		if !arrived {
			continue
		}
		s.noteRecord(&step{old: s.recordByNumber(q.Old), record: q.Record})
		if s.st.home == "" {
			s.st.home = p.home
		}
	}
	s.takeSettled()
	return nil
}

// hasArrived reports whether the server has made the change of a step. If so, hasArrived completes
// the record.
func (s *session) hasArrived(q *planStep, server *side) (found bool, err error) {
	old := s.recordByNumber(q.Old)
	if q.Record == nil {
		e, known := server.byID[old.ID]
		return old.ID > 0 && e == nil && (known || server.all), nil
	}
	e := server.byName[q.Record.Server.Name]
	if e == nil || (old != nil && s.st.entryHash(e) == old.Server.Hash) {
		return false, nil
	}
	was := oxbow.Version{Seq: e.Version, Source: oxbow.Source{Time: e.Updated}}
	found = s.st.entryHash(e) == q.Record.Server.Hash
	if !found { // other clients may have changed the entry since then
		_, _, err = s.newestVersion(s.server, []string{e.Name}, func(v oxbow.Version) bool {
			found = v.Verb != oxbow.VerbRemove && s.st.entryHash(&v.Entry) == q.Record.Server.Hash
			if found {
				was = v
			}
			return found || (old != nil && v.Seq <= old.Version)
		})
	}
	q.Record.ID = e.ID
	q.Record.Version = was.Seq
	q.Record.Updated = was.Source.Time.UnixNano()
	return found, err
}

// recordByNumber returns the record with a number, or nil for 0.
func (s *session) recordByNumber(n int) *record {
	if n == 0 {
		return nil
	}
	return s.st.records[n-1]
}
