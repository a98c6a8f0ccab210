// This file finds out which entry in the home and which entry on the server belong together, by the records of the
// last synchronization and by the entries' names.

package reconcile

import (
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// pairEntries sets s.pairs. Each pair consists of a home entry, a server entry, or both. A record of the last
// synchronization describes an entry of the home and the corresponding entry of the server. For each record whose entry
// was not removed, pairEntries creates a pair with the present home entry and the present server entry that the record
// describes. Each entry without a record also becomes a part of a pair. If the home and the server both have a new
// entry with the same name, these two entries become one pair.
func (s *syncRun) pairEntries(home, server *homeOrServerEntries) {
	for _, e := range home.entryList {
		s.usedNames[oxbow.NormalName(e.Name)] = true
	}
	// entries that were already found for one of the records of the last synchronization
	atHome, atServer := map[*oxbow.Entry]bool{}, map[*oxbow.Entry]bool{}
	for _, r := range s.state.records {
		if r.WasRemoved {
			continue
		}
		p := &entryPair{
			trustedRecord:  r,
			lastSyncRecord: r,
			homeChange:     entryRemovedSinceSync,
			serverChange:   entryUnchangedSinceSync,
		}
		s.pairs = append(s.pairs, p)
		p.homeEntry = home.entriesByName[r.HomeEntry.EntryName]
		if p.homeEntry != nil && !atHome[p.homeEntry] {
			atHome[p.homeEntry] = true
		} else {
			p.homeEntry = nil
		}
		s.findServerEntry(p, server, atServer)
	}
	s.findRenames(home, server, atHome, atServer)
	for _, p := range s.pairs {
		s.setEntryChanges(p, home, server)
	}
	for _, e := range server.entryList {
		if !atServer[e] {
			p := &entryPair{serverEntry: e, serverChange: entryChangedSinceSync}
			if h := home.findEntryByName(e.Name); h != nil && !atHome[h] {
				p.homeEntry = h
				p.homeChange = entryChangedSinceSync
				atHome[h] = true
			}
			s.pairs = append(s.pairs, p)
		}
	}
	for _, e := range home.entryList {
		if !atHome[e] {
			s.pairs = append(s.pairs, &entryPair{homeEntry: e, homeChange: entryChangedSinceSync})
		}
	}
}

// findServerEntry searches server for the entry that p.trustedRecord describes, and stores it in p.serverEntry. It also
// adds the entry to pairedEntries, the set of entries that already belong to a record. An entry that is already in this
// set is ignored, because it belongs to another record.
//
// If it finds no entry, there are two cases. If server contains all entries, or contains the record's ID (with nil or
// with another entry), the entry was removed on the server, and p.serverChange becomes entryRemovedSinceSync. Otherwise
// the entry has not changed on the server, and p.serverChange stays the same.
func (s *syncRun) findServerEntry(p *entryPair, server *homeOrServerEntries, pairedEntries map[*oxbow.Entry]bool) {
	r := p.trustedRecord
	e, candidate := server.entriesByID[r.ID]
	isFound := r.ID != 0 && e != nil
	if !isFound || mayBeDifferentEntry(e, r, server) {
		e = server.entriesByName[r.ServerEntry.EntryName]
	}
	if e != nil && !pairedEntries[e] {
		p.serverEntry, pairedEntries[e] = e, true
	} else if candidate || server.isComplete {
		p.serverChange = entryRemovedSinceSync
	}
}

// mayBeDifferentEntry reports whether an entry with the ID in a record may be a different entry. This is possible if
// the server's store was replaced by another store that uses the same IDs.
func mayBeDifferentEntry(e *oxbow.Entry, r *syncRecord, server *homeOrServerEntries) bool {
	return !server.isHistoryContinued && e.Name != r.ServerEntry.EntryName
}

// findRenames finds entries that were renamed in the home or on the server since the last synchronization. A sync
// record refers to an entry in the home and to an entry on the server. If one of these two entries is missing,
// findRenames searches the same side (the home or the server) for a new entry with the same kind and creation time. It
// adds the new entry to the pair of the record.
//
// findRenames adds no entry if several new entries have this kind and creation time. It also adds no entry if the other
// side already has a different entry with the new name.
func (s *syncRun) findRenames(
	home, server *homeOrServerEntries,
	pairedHomeEntries, pairedServerEntries map[*oxbow.Entry]bool,
) {
	names := map[string]bool{} // names of the server's entries, including the names in the sync records
	for _, e := range server.entryList {
		names[e.Name] = true
	}
	for _, p := range s.pairs {
		if p.serverChange == entryUnchangedSinceSync {
			names[p.trustedRecord.ServerEntry.EntryName] = true
		}
	}
	s.findMovedEntries(home.entryList, pairedHomeEntries, func(p *entryPair) (entryVersionIdentity, bool) {
		return p.trustedRecord.HomeEntry, p.homeEntry == nil && home.isHistoryContinued
	},
		func(name string) bool { return !names[name] }, func(p *entryPair, e *oxbow.Entry) { p.homeEntry = e })
	s.findMovedEntries(server.entryList, pairedServerEntries, func(p *entryPair) (entryVersionIdentity, bool) {
		return p.trustedRecord.ServerEntry, p.serverChange == entryRemovedSinceSync && server.isHistoryContinued
	},
		func(name string) bool { return home.findEntryByName(name) == nil }, func(p *entryPair, e *oxbow.Entry) {
			p.serverEntry, p.serverChange = e, entryUnchangedSinceSync
		})
}

// findMovedEntries finds entries that were renamed since the last synchronization. It searches one side, which is
// either the home (the user's own store) or the server. The list entries contains the entries that this side has now.
// The map pairedEntries contains the entries of this side that already belong to a pair.
//
// The function missingEntryIdentity must report whether a pair's entry is missing on this side. If the entry is
// missing, the function must return the identity that the entry had, and true.
//
// For each such pair, findMovedEntries searches the list entries for candidates. A candidate has the same kind and
// creation time as the missing entry, and does not belong to a pair. The function isNameFree must also return true for
// the candidate's name. If exactly one candidate has the pair's server name as an alias, the pair gets this candidate.
// Otherwise a single candidate with equal content is used. Otherwise a single candidate is used if no other pair with
// this kind and creation time is left.
//
// findMovedEntries passes each pair and the pair's new entry to the function assignEntry, and adds the entry to the map
// pairedEntries.
func (s *syncRun) findMovedEntries(
	entries []*oxbow.Entry,
	pairedEntries map[*oxbow.Entry]bool,
	missingEntryIdentity func(*entryPair) (entryVersionIdentity, bool),
	isNameFree func(string) bool,
	assignEntry func(*entryPair, *oxbow.Entry),
) {
	candidates := func(k oxbow.Kind, created int64) string { return fmt.Sprint(k, created) }
	moved, isMatch := map[string][]*entryPair{}, map[string][]*oxbow.Entry{}
	for _, p := range s.pairs {
		if m, ok := missingEntryIdentity(p); ok {
			k := candidates(m.Kind, m.CreatedNanoseconds)
			moved[k] = append(moved[k], p)
		}
	}
	for _, e := range entries {
		isCandidate := len(moved) > 0 && !pairedEntries[e] && isNameFree(e.Name)
		if isCandidate {
			k := candidates(e.Kind, e.Created.UnixNano())
			isMatch[k] = append(isMatch[k], e)
		}
	}
	for k, ps := range moved {
		es := isMatch[k]
		for _, fits := range []func(*entryPair, *oxbow.Entry) bool{
			func(p *entryPair, e *oxbow.Entry) bool {
				return slices.Contains(e.Aliases, p.trustedRecord.ServerEntry.EntryName)
			},
			func(p *entryPair, e *oxbow.Entry) bool {
				return s.state.saltedHash(e.Content) == p.trustedRecord.Content
			},
			func(*entryPair, *oxbow.Entry) bool { return len(ps) == 1 },
		} {
			ps = slices.DeleteFunc(ps, func(p *entryPair) bool {
				var one []*oxbow.Entry
				for _, e := range es {
					if !pairedEntries[e] && fits(p, e) {
						one = append(one, e)
					}
				}
				if len(one) != 1 {
					return false
				}
				assignEntry(p, one[0])
				pairedEntries[one[0]] = true
				return true
			})
		}
	}
}

// setEntryChanges sets p.homeChange and p.serverChange. These fields describe how the entry has changed in the home and
// on the server since the last synchronization, compared with p.trustedRecord. If the server's entry is unchanged,
// setEntryChanges also updates its ID, version and time in the record.
//
// If an entry is missing on one side, it was not necessarily removed there. The history of this side may have been
// replaced or read only in part. If it is not certain that the entry was removed, setEntryChanges treats the entry as
// if this side had never had it. As a result, the other side's entry is copied to this side. In this case
// setEntryChanges also clears p.trustedRecord and counts the entry in s.report.NotRemovedCount.
func (s *syncRun) setEntryChanges(p *entryPair, home, server *homeOrServerEntries) {
	r := p.trustedRecord
	switch {
	case p.homeEntry != nil && s.state.entryHash(p.homeEntry) == r.HomeEntry.EntryHash:
		p.homeChange = entryUnchangedSinceSync
	case p.homeEntry != nil:
		p.homeChange = entryChangedSinceSync
	}
	switch {
	case p.serverEntry != nil && s.state.entryHash(p.serverEntry) == r.ServerEntry.EntryHash:
		p.serverChange = entryUnchangedSinceSync
		r.ID = p.serverEntry.ID
		r.Version = p.serverEntry.Version
		r.UpdatedNanoseconds = p.serverEntry.Updated.UnixNano()
	case p.serverEntry != nil:
		p.serverChange = entryChangedSinceSync
	}
	if p.homeChange == entryRemovedSinceSync && !home.isHistoryContinued {
		s.report.NotRemovedCount++
		p.trustedRecord = nil
		p.homeChange = entryNeverExisted
		p.serverChange = entryChangedSinceSync
		if p.serverEntry == nil {
			p.serverChange = entryRemovedSinceSync
		}
	}
	isCertain := server.isHistoryContinued && (r.ID > 0 || server.areAllChangesRead)
	if isCertain || p.homeEntry == nil {
		return
	}
	// The entry may still exist on the server, so the home's version is sent again.
	if p.serverChange == entryRemovedSinceSync {
		s.report.NotRemovedCount++
		p.trustedRecord = nil
		p.serverChange = entryNeverExisted
		p.homeChange = entryChangedSinceSync
	}
}
