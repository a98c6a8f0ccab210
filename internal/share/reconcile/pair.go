// This file pairs the entries of the home and the server. It uses the records of the last
// synchronization and the entries' names.

package reconcile

import (
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// pairEntries sets s.pairs to the pairs of matching entries.
func (s *session) pairEntries(home, server *side) {
	for _, e := range home.order {
		s.taken[oxbow.NormalName(e.Name)] = true
	}
	atHome, atServer := map[*oxbow.Entry]bool{}, map[*oxbow.Entry]bool{} // entries to which a record belongs
	for _, r := range s.st.records {
		if r.Gone {
			continue
		}
		p := &pair{record: r, old: r, here: gone, there: unchanged}
		s.pairs = append(s.pairs, p)
		p.home = home.byName[r.Home.Name]
		if p.home != nil && !atHome[p.home] {
			atHome[p.home] = true
		} else {
			p.home = nil
		}
		s.findServer(p, server, atServer)
	}
	s.findRenames(home, server, atHome, atServer)
	for _, p := range s.pairs {
		s.judgePair(p, home, server)
	}
	for _, e := range server.order {
		if !atServer[e] {
			p := &pair{server: e, there: changed}
			if h := home.findName(e.Name); h != nil && !atHome[h] {
				p.home = h
				p.here = changed
				atHome[h] = true
			}
			s.pairs = append(s.pairs, p)
		}
	}
	for _, e := range home.order {
		if !atHome[e] {
			s.pairs = append(s.pairs, &pair{home: e, here: changed})
		}
	}
}

// findServer sets p.server to the server's entry for the record of p.
func (s *session) findServer(p *pair, server *side, used map[*oxbow.Entry]bool) {
	r := p.record
	e, known := server.byID[r.ID]
	// check the name as well as the ID, because another store may use the same ID
	if r.ID == 0 || e == nil || (!server.trusted && e.Name != r.Server.Name) {
		e = server.byName[r.Server.Name]
	}
	if e != nil && !used[e] {
		p.server, used[e] = e, true
	} else if known || server.all {
		p.there = gone
	}
}

// findRenames finds entries that were renamed on one side. If a record has no entry on that side,
// findRenames pairs it with a new entry of the same kind and creation time. It does not pair the
// record if several entries qualify, or if the other side has a different entry with the new name.
func (s *session) findRenames(home, server *side, atHome, atServer map[*oxbow.Entry]bool) {
	names := map[string]bool{} // known names on the server
	for _, e := range server.order {
		names[e.Name] = true
	}
	for _, p := range s.pairs {
		if p.there == unchanged {
			names[p.record.Server.Name] = true
		}
	}
	s.findMoved(home.order, atHome, func(p *pair) (entryIdentity, bool) {
		return p.record.Home, p.home == nil && home.trusted
	},
		func(name string) bool { return !names[name] }, func(p *pair, e *oxbow.Entry) { p.home = e })
	s.findMoved(server.order, atServer, func(p *pair) (entryIdentity, bool) {
		return p.record.Server, p.there == gone && server.trusted
	},
		func(name string) bool { return home.findName(name) == nil }, func(p *pair, e *oxbow.Entry) {
			p.server, p.there = e, unchanged
		})
}

// findMoved finds, for each pair that has no entry on one side, the new entry that replaced it. If
// several entries have the same creation time, an alias or the content decides.
func (s *session) findMoved(
	entries []*oxbow.Entry,
	used map[*oxbow.Entry]bool,
	missing func(*pair) (entryIdentity, bool),
	free func(string) bool,
	take func(*pair, *oxbow.Entry),
) {
	of := func(k oxbow.Kind, created int64) string { return fmt.Sprint(k, created) }
	was, is := map[string][]*pair{}, map[string][]*oxbow.Entry{}
	for _, p := range s.pairs {
		if m, ok := missing(p); ok {
			k := of(m.Kind, m.Created)
			was[k] = append(was[k], p)
		}
	}
	for _, e := range entries {
		if len(was) > 0 && !used[e] && free(e.Name) {
			k := of(e.Kind, e.Created.UnixNano())
			is[k] = append(is[k], e)
		}
	}
	for k, ps := range was {
		es := is[k]
		for _, fits := range []func(*pair, *oxbow.Entry) bool{
			func(p *pair, e *oxbow.Entry) bool { return slices.Contains(e.Aliases, p.record.Server.Name) },
			func(p *pair, e *oxbow.Entry) bool { return s.st.hash(e.Content) == p.record.Content },
			func(*pair, *oxbow.Entry) bool { return len(ps) == 1 },
		} {
			ps = slices.DeleteFunc(ps, func(p *pair) bool {
				var one []*oxbow.Entry
				for _, e := range es {
					if !used[e] && fits(p, e) {
						one = append(one, e)
					}
				}
				if len(one) != 1 {
					return false
				}
				take(p, one[0])
				used[one[0]] = true
				return true
			})
		}
	}
}

// judgePair sets p.here and p.there of a pair with a record, which describe how the entry changed
// on each side since the last synchronization.
func (s *session) judgePair(p *pair, home, server *side) {
	r := p.record
	switch {
	case p.home != nil && s.st.entryHash(p.home) == r.Home.Hash:
		p.here = unchanged
	case p.home != nil:
		p.here = changed
	}
	switch {
	case p.server != nil && s.st.entryHash(p.server) == r.Server.Hash:
		p.there = unchanged
		r.ID = p.server.ID
		r.Version = p.server.Version
		r.Updated = p.server.Updated.UnixNano()
	case p.server != nil:
		p.there = changed
	}
	if p.here == gone && !home.trusted {
		s.rep.Returns++
		p.record = nil
		p.here = absent
		p.there = changed
		if p.server == nil {
			p.there = gone
		}
	}
	if p.there == gone && p.home != nil && !(server.trusted && (r.ID > 0 || server.exact)) {
		s.rep.Returns++
		p.record = nil
		p.there = absent
		p.here = changed
	}
}
