// This file decides which entry keeps an alias if the home (the memory on this computer) and the server gave the alias
// to different entries. The decision is made when the home pulls the server's changes.

package reconcile

import (
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// dropDuplicateAliases changes the steps of a pull, so that afterwards each alias belongs to only one entry in the
// home. If a home entry without a step loses an alias, dropDuplicateAliases adds a step for the entry. The report lists
// the lost aliases. The next push also removes these aliases from the server's entries.
//
// If two entries have the same alias, all homes choose the same entry to keep it, because they compare the names and
// creation times that the entries have on the server. If homes compared their own names and times, one home might
// choose the first entry and another home might choose the second. Then each of the two entries would lose the alias in
// one home.
func (s *syncRun) dropDuplicateAliases(steps []*plannedStep) []*plannedStep {
	byPair := map[*entryPair]*plannedStep{}
	for _, st := range steps {
		byPair[st.pair] = st
	}
	var holders []oxbow.AliasHolder
	// The map named of contains the pair of each entry, by the entry's name in the home. A pair consists of the home's
	// version and the server's version of an entry.
	of := map[string]*entryPair{}
	for _, p := range s.pairs {
		st := byPair[p]
		e := homeEntryAfterStep(p, st)
		if e == nil {
			continue
		}
		h := oxbow.AliasHolder{Name: e.Name, Aliases: e.Aliases, Created: e.Created, IsNew: true}
		if p.homeEntry != nil {
			h.Had, h.IsNew = p.homeEntry.Aliases, p.homeEntry.Name != e.Name
		}
		r := p.trustedRecord
		if st != nil && st.record != nil {
			r = st.record
		}
		if r != nil {
			h.Created = time.Unix(0, r.ServerEntry.CreatedNanoseconds)
		}
		holders = append(holders, h)
		of[h.Name] = p
	}
	s.report.TakenAliases = oxbow.SettleAliases(holders, oxbow.OldestKeeps)
	lostAliases := map[*entryPair][]string{}
	for _, t := range s.report.TakenAliases {
		lostAliases[of[t.Name]] = append(lostAliases[of[t.Name]], t.Alias)
	}
	for _, p := range s.pairs {
		if len(lostAliases[p]) == 0 {
			continue
		}
		st := byPair[p]
		if st == nil {
			st = &plannedStep{oldRecord: p.lastSyncRecord, pair: p}
			if p.trustedRecord != nil {
				r := *p.trustedRecord
				st.record = &r
			}
			steps = append(steps, st)
		}
		s.dropStepAliases(st, p, lostAliases[p])
	}
	return steps
}

// homeEntryAfterStep returns the home's entry of pair p as it will be after step st. It returns nil if the home will
// not contain such an entry. st may be nil.
func homeEntryAfterStep(p *entryPair, st *plannedStep) *oxbow.Entry {
	switch {
	case st == nil || len(st.ops) == 0:
		return p.homeEntry
	case st.record == nil:
		return nil
	}
	return st.homeEntry
}

// dropStepAliases changes the planned step st, so that the step removes the aliases in lostAliases from an entry in the
// home. The argument p contains the home's version and the server's version of this entry. If the entry without these
// aliases is equal to the entry that is already in the home, the step has no ops any more, so that it does not change
// the home.
func (s *syncRun) dropStepAliases(st *plannedStep, p *entryPair, lostAliases []string) {
	e := homeEntryAfterStep(p, st).Clone()
	e.Aliases = slices.DeleteFunc(e.Aliases, func(a string) bool { return slices.Contains(lostAliases, a) })
	isChanged := slices.ContainsFunc(st.ops, func(op oxbow.Op) bool { return op.Target() == e.Name })
	switch {
	case !isChanged:
		st.ops = append(st.ops, oxbow.Alias{Name: e.Name, Aliases: e.Aliases, If: p.homeEntry.Version})
		if len(st.ops) == 1 {
			st.change = Change{Name: e.Name, Verb: oxbow.VerbUpdate}
		}
	case p.homeEntry == nil:
		st.ops = []oxbow.Op{threeway.NewAddOp(&e)}
	default:
		st.ops = threeway.NewReplaceVersionOps(p.homeEntry, &e)
	}
	st.homeEntry = &e
	if p.serverEntry != nil && p.serverChange == entryChangedSinceSync {
		st.hasHomeChanges = s.state.entryHash(&e) != s.state.entryHash(p.serverEntry)
	} else {
		st.hasHomeChanges = true
	}
	if p.homeEntry != nil && s.state.entryHash(&e) == s.state.entryHash(p.homeEntry) {
		st.ops = nil
		st.change = Change{}
		st.homeEntry = p.homeEntry
	}
}
