// This file holds the shelf: the entries that are ranked, and what ranks them.

package oxbow

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
)

// shelf is the entries of a store and what ranks them. Memory.mu guards it.
type shelf struct {
	rankings map[string]*ranking // by name; a ranking is made when it is first asked for
	saved    *savedIndex         // what the memory's own ranking began from, nil for nothing
	unsaved  int                 // entries put or removed since

	// docs are the entries by ID. Those of a late shelf come when somebody asks
	// for them; nil stands for one that is not there any more.
	docs map[uint64]*Entry

	late   bool // what docs lacks is read from the log of saved
	living int  // entries of a late shelf

	turns turnTable // of those entries that ranking looked at

	mu  sync.Mutex // guards docs and err of a late shelf
	err error      // why an entry could not be read: what was found before it counts for nothing
}

func newShelf(ranks ...string) *shelf {
	s := &shelf{rankings: map[string]*ranking{}, docs: map[uint64]*Entry{}}
	for _, name := range ranks {
		s.rankings[name] = newRanking(name)
	}
	return s
}

// begin makes the index of the file that of an empty shelf. A file that can read
// entries makes it a late one, which needs no filling.
func (s *shelf) begin(saved *savedIndex) {
	s.saved = saved
	s.rankings[saved.head.ranking].index = saved.index
	s.late, s.living = saved.db != nil, saved.rows.len()
}

// close lets go of the index file. The shelf is of no use any more.
func (s *shelf) close() {
	if s != nil && s.saved != nil {
		s.saved.close()
	}
}

// set takes in a change.
func (s *shelf) set(d cutDelta) {
	s.unsaved++
	s.turns.drop(d.ID)
	for _, r := range s.rankings {
		doc, known := d.docs[r]
		switch {
		case d.Entry == nil:
			r.index.Delete(d.ID)
		case known:
			r.index.Put(d.ID, d.Entry.Updated.UnixNano(), doc)
		default:
			r.put(d.Entry)
		}
	}
	switch {
	case s.late:
		if s.has(d.ID) {
			s.living--
		}
		if s.docs[d.ID] = d.Entry; d.Entry != nil {
			s.living++
		}
	default:
		if s.docs[d.ID] = d.Entry; d.Entry == nil {
			delete(s.docs, d.ID)
		}
	}
}

// has reports whether a late shelf has an entry of that ID.
func (s *shelf) has(id uint64) bool {
	if e, known := s.docs[id]; known {
		return e != nil
	}
	_, found := s.saved.rows.find(id)
	return found
}

// len returns the number of entries.
func (s *shelf) len() int {
	if s.late {
		return s.living
	}
	return len(s.docs)
}

// doc returns the entry of that ID, nil when there is none.
func (s *shelf) doc(id uint64) *Entry {
	if !s.late {
		return s.docs[id]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, known := s.docs[id]
	if known {
		return e
	}
	i, found := s.saved.rows.find(id)
	if !found {
		return nil
	}
	var err error
	if e, err = s.saved.db.entryByID(id); err != nil {
		s.err = err
	} else if e != nil && e.Version >= s.saved.rows.version(i) {
		s.docs[id] = e
	}
	return s.docs[id]
}

// name returns the name of an entry.
func (s *shelf) name(id uint64) string {
	if e := s.doc(id); e != nil {
		return e.Name
	}
	return ""
}

// newer compares two entries by the time of their versions, the newer first.
func (s *shelf) newer(a, b uint64) int {
	ea, eb := s.doc(a), s.doc(b)
	if ea == nil || eb == nil {
		return 0
	}
	return eb.Updated.Compare(ea.Updated)
}

// failed returns why an entry could not be read.
func (s *shelf) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// ids returns the IDs of the entries, rising.
func (s *shelf) ids() []uint64 {
	ids := make([]uint64, 0, s.len())
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, e := range s.docs {
		if e != nil {
			ids = append(ids, id)
		}
	}
	if s.late {
		for i := range s.saved.rows.len() {
			if _, known := s.docs[s.saved.rows.id(i)]; !known {
				ids = append(ids, s.saved.rows.id(i))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// all yields the entries.
func (s *shelf) all() iter.Seq[*Entry] {
	if !s.late {
		return maps.Values(s.docs)
	}
	return func(yield func(*Entry) bool) {
		for _, id := range s.ids() {
			if e := s.doc(id); e != nil && !yield(e) {
				return
			}
		}
	}
}

// versions returns the IDs of the entries, rising, and their versions.
func (s *shelf) versions() (ids, versions []uint64) {
	ids = s.ids()
	versions = make([]uint64, len(ids))
	for i, id := range ids {
		if e := s.docs[id]; e != nil {
			versions[i] = e.Version
		} else if j, found := s.saved.rows.find(id); found {
			versions[i] = s.saved.rows.version(j)
		}
	}
	return ids, versions
}

// allow returns the test that the filter puts to a document, nil for none.
func (s *shelf) allow(f Filter) func(id uint64) bool {
	if f.IsZero() {
		return nil
	}
	return func(id uint64) bool {
		e := s.doc(id)
		return e != nil && f.Match(e)
	}
}

// newest returns what the plan selects, newest version first.
func (s *shelf) newest(r *ranking, p *plan, limit int) []Hit {
	var hits []Hit
	if r.an != nil { // then the index has them all
		for _, id := range r.index.Newest(p.query(limit)) {
			if e := s.doc(id); e != nil { // else it could not be read
				hits = append(hits, Hit{Entry: *e})
			}
		}
		return hits
	}
	var es []*Entry
	for e := range s.all() {
		if p.allow == nil || p.allow(e.ID) {
			es = append(es, e)
		}
	}
	slices.SortFunc(es, func(a, b *Entry) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	for _, e := range es[:min(limit, len(es))] {
		hits = append(hits, Hit{Entry: *e})
	}
	return hits
}

func (s *shelf) names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for e := range s.all() {
			if !yield(e.Name) {
				return
			}
		}
	}
}
