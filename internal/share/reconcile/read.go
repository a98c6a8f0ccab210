// This file reads both sides: all entries of the home, and the changes on the server since the last
// synchronization.

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// ofMachine reports whether entries of a kind belong to sessions on a single machine. Such entries
// are not synchronized.
func ofMachine(k oxbow.Kind) bool { return k == oxbow.Handoff || k == oxbow.History }

// errServer reports an answer that a server must not send.
var errServer = errors.New("the server's answer cannot be used, and nothing was changed")

// side contains the entries that were read from the home or from the server.
type side struct {
	byName  map[string]*oxbow.Entry
	byID    map[uint64]*oxbow.Entry // nil for removed entries
	order   []*oxbow.Entry
	all     bool // all entries were read, not only changes
	trusted bool // the history continues from the last synchronization, so that a missing entry was removed
	exact   bool // the changes were read exactly from the last synchronization on
}

func newSide() *side {
	return &side{byName: map[string]*oxbow.Entry{}, byID: map[uint64]*oxbow.Entry{}}
}

func (d *side) add(e oxbow.Entry) {
	if ofMachine(e.Kind) {
		d.byID[e.ID] = nil
		return
	}
	d.byID[e.ID], d.byName[e.Name] = &e, &e
	d.order = append(d.order, &e)
}

// findName returns the entry with a name, in any spelling, or nil.
func (d *side) findName(name string) *oxbow.Entry {
	for _, form := range oxbow.AllNameForms([]string{name}) {
		if e := d.byName[form]; e != nil {
			return e
		}
	}
	return nil
}

func (s *session) readHome() (*side, error) {
	d := newSide()
	d.all = true
	for e, err := range s.exact.Entries(s.ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		d.add(e)
	}
	now, err := storePosition(s.ctx, s.exact)
	if err != nil {
		return nil, err
	}
	s.homePos = now
	d.trusted = s.st.home == now || s.st.home.Precedes(now)
	s.undone, err = s.pullUndone()
	if s.undone {
		s.st.undo()
	}
	return d, err
}

// pullUndone reports whether the changes of the last pull were undone.
func (s *session) pullUndone() (bool, error) {
	h, err := oxbow.HistoryOf(s.home)
	if err != nil || len(s.st.pulls) == 0 {
		return false, nil
	}
	reverted := map[uint64]bool{}
	for c, err := range h.Log(s.ctx) {
		if err != nil {
			return false, err
		}
		if c.Seq <= s.st.pulls[0] {
			break
		}
		for _, seq := range c.Reverts {
			reverted[seq] = reverted[seq] || !reverted[c.Seq]
		}
	}
	for _, seq := range s.st.pulls {
		if reverted[seq] {
			return true, nil
		}
	}
	return false, nil
}

// readServer reads the server's changes. If they are not sufficient, it reads all entries.
func (s *session) readServer(homeTrusted bool) (d *side, err error) {
	s.serverPos, err = s.askPosition()
	if err != nil {
		return nil, err
	}
	d = newSide()
	if s.st.server != "" {
		if err := s.readSince(d, s.st.server); err != nil && !errors.Is(err, oxbow.ErrPosition) {
			return nil, err
		} else if err == nil {
			d.trusted, d.exact = true, true
		}
	}
	whole := !d.exact || s.undone || !homeTrusted
	for _, r := range s.st.records {
		whole = whole || (!r.Gone && r.ID == 0 && d.byName[r.Server.Name] == nil)
	}
	if !whole {
		return d, nil
	}
	all := newSide()
	all.all = true
	all.trusted = d.trusted
	all.exact = d.exact
	if !all.trusted {
		all.trusted, err = s.followsOn()
		if err != nil {
			return nil, err
		}
	}
	return all, s.readAll(all)
}

// askPosition returns the server's position in its history.
func (s *session) askPosition() (oxbow.Position, error) {
	p, err := storePosition(s.ctx, s.server)
	if err == nil && len(p) > mostPosition {
		err = fmt.Errorf("%w: its position has %d bytes", errServer, len(p))
	}
	return p, err
}

// readAll reads all entries of the server.
func (s *session) readAll(all *side) error {
	b := s.newReadLimit()
	for e, err := range s.server.Entries(s.ctx, oxbow.Filter{}) {
		if err == nil {
			err = b.check(&e)
		}
		if err == nil && all.byName[e.Name] != nil {
			err = fmt.Errorf("%w: two entries are named %q", errServer, e.Name)
		}
		if err != nil {
			return err
		}
		all.add(e)
	}
	return nil
}

// followsOn reports whether the server's history contains the last server change that the records
// contain. If a server's positions are valid only until it restarts, this distinguishes a restarted
// server from a different store or a restored backup.
func (s *session) followsOn() (bool, error) {
	var last *record
	for _, r := range s.st.records {
		if r.ID > 0 && (last == nil || r.Version > last.Version) {
			last = r
		}
	}
	if last == nil {
		return false, nil
	}
	found := false
	_, _, err := s.newestVersion(s.server, []string{last.Server.Name}, func(v oxbow.Version) bool {
		found = found || (v.Seq == last.Version && v.Source.Time.UnixNano() == last.Updated)
		return found || v.Seq < last.Version
	})
	return found, err
}

// readSince reads the entries that changed on the server after a position.
func (s *session) readSince(d *side, from oxbow.Position) error {
	if s.serverPos == from {
		return nil
	}
	b := s.newReadLimit()
	last := map[uint64]*oxbow.Entry{}
	var order []uint64
	for delta, err := range s.server.(oxbow.Sequencer).Since(s.ctx, from) {
		switch {
		case err != nil:
		case delta.Entry == nil:
			err = b.count(0)
		case delta.Entry.ID != delta.ID:
			err = fmt.Errorf("%w: entry %d is told of as %d", errServer, delta.Entry.ID, delta.ID)
		default:
			err = b.check(delta.Entry)
		}
		if err != nil {
			return err
		}
		if _, ok := last[delta.ID]; !ok {
			order = append(order, delta.ID)
		}
		last[delta.ID] = delta.Entry
	}
	for _, id := range order {
		if e := last[id]; e == nil {
			d.byID[id] = nil
		} else if d.byName[e.Name] != nil {
			return fmt.Errorf("%w: two entries are named %q", errServer, e.Name)
		} else {
			d.add(*e)
		}
	}
	return nil
}

// readLimit limits the amount of data that is read from a server.
type readLimit struct{ entries, bytes, most int }

func (s *session) newReadLimit() *readLimit { return &readLimit{most: cmp.Or(s.o.most, mostEntries)} }

// count counts an entry of a number of bytes. It fails if the limit is exceeded.
func (b *readLimit) count(bytes int) error {
	b.entries, b.bytes = b.entries+1, b.bytes+bytes
	if b.entries > b.most || b.bytes > mostBytes {
		return fmt.Errorf("%w: there are more than %d entries, or than %d bytes", errServer, b.most, mostBytes)
	}
	return nil
}

func (b *readLimit) check(e *oxbow.Entry) error {
	if err := b.count(len(e.Content)); err != nil {
		return err
	}
	if err := (oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases,
		Labels: e.Labels}).Check(); err != nil {
		// do not wrap err, because the caller did nothing wrong
		return fmt.Errorf("%w: an entry is one that no memory can hold: %v", errServer, err)
	}
	return nil
}

// contentBefore returns the content from which both versions of a pair were derived, or "" if it is
// unknown. It is the last content that the home had since the last synchronization and that the
// server also had. It can be newer than the record, because the end of a push may not have been
// recorded.
func (s *session) contentBefore(p *pair) (string, error) {
	base := func(text string) bool { return p.record != nil && s.st.hash(text) == p.record.Content }
	for _, v := range []*oxbow.Entry{p.home, p.server} {
		if base(v.Content) {
			return v.Content, nil
		}
	}
	homes, servers := []string{p.home.Name}, []string{p.server.Name}
	if r := p.record; r != nil {
		homes, servers = append(homes, r.Home.Name), append(servers, r.Server.Name)
	}
	had, before := map[string]bool{}, ""
	_, _, err := s.newestContent(s.exact, homes, func(text string) bool {
		had[text] = true
		if base(text) {
			before = text
		}
		return base(text)
	})
	if err != nil {
		return "", err
	}
	text, ok, err := s.newestContent(s.server, servers, func(text string) bool { return had[text] || base(text) })
	if err != nil || ok {
		return text, err
	}
	return before, nil
}

// mostVersions is the maximum number of versions that are examined.
const mostVersions = 1000

// newestContent returns the newest content under the names for which is returns true. The bool is
// false if there is none.
func (s *session) newestContent(store oxbow.Store, names []string, is func(string) bool) (string, bool, error) {
	return s.newestVersion(store, names, func(v oxbow.Version) bool {
		return v.Verb != oxbow.VerbRemove && !v.Erased && is(v.Entry.Content)
	})
}

// newestVersion returns the content of the newest version under the names for which is returns
// true. The bool is false if there is none.
func (s *session) newestVersion(store oxbow.Store, names []string, is func(oxbow.Version) bool) (string, bool, error) {
	h, err := oxbow.HistoryOf(store)
	if err != nil {
		return "", false, nil
	}
	n := 0
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		for v, err := range h.Versions(s.ctx, name) {
			if errors.Is(err, oxbow.ErrNotFound) || errors.Is(err, oxbow.ErrUnsupported) {
				break
			}
			n++
			if err != nil || n > mostVersions {
				return "", false, err
			}
			if is(v) {
				return v.Entry.Content, true, nil
			}
		}
	}
	return "", false, nil
}
