// Reading both sides: all of the home, and of the server what changed since both met.

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// ofMachine reports whether entries of a kind are of the sessions of one machine.
func ofMachine(k oxbow.Kind) bool { return k == oxbow.Handoff || k == oxbow.History }

// errServer is of what a server must not answer.
var errServer = errors.New("the server's answer cannot be used, and nothing was changed")

// side is what was read of one side.
type side struct {
	byName  map[string]*oxbow.Entry
	byID    map[uint64]*oxbow.Entry // nil for what was removed
	order   []*oxbow.Entry
	all     bool // all entries were read, not what changed alone
	trusted bool // its history leads on from when both met: what is missing was removed
	exact   bool // it does from the very end of that
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

// named returns the entry that has the name, in this or another spelling, or nil.
func (d *side) named(name string) *oxbow.Entry {
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
	now, err := position(s.ctx, s.exact)
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

// pullUndone reports whether the changes of the last pull were taken back.
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

// readServer reads what changed on the server or, where that is not enough, all of it.
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

// askPosition returns the place of the server in its history.
func (s *session) askPosition() (oxbow.Position, error) {
	p, err := position(s.ctx, s.server)
	if err == nil && len(p) > mostPosition {
		err = fmt.Errorf("%w: its position has %d bytes", errServer, len(p))
	}
	return p, err
}

// readAll reads all of the server.
func (s *session) readAll(all *side) error {
	b := s.bound()
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

// followsOn reports whether the server's history has the last of its changes that the
// records name: where positions are of one run of a server, that tells a later run from
// another store and from a backup that was restored.
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
	_, _, err := s.versions(s.server, []string{last.Server.Name}, func(v oxbow.Version) bool {
		found = found || (v.Seq == last.Version && v.Source.Time.UnixNano() == last.Updated)
		return found || v.Seq < last.Version
	})
	return found, err
}

// readSince reads what changed on the server after a place.
func (s *session) readSince(d *side, from oxbow.Position) error {
	if s.serverPos == from {
		return nil
	}
	b := s.bound()
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

// bound holds what a server answers to what a home can hold.
type bound struct{ entries, bytes, most int }

func (s *session) bound() *bound { return &bound{most: cmp.Or(s.o.most, mostEntries)} }

// count counts an entry of so many bytes.
func (b *bound) count(bytes int) error {
	b.entries, b.bytes = b.entries+1, b.bytes+bytes
	if b.entries > b.most || b.bytes > mostBytes {
		return fmt.Errorf("%w: there are more than %d entries, or than %d bytes", errServer, b.most, mostBytes)
	}
	return nil
}

func (b *bound) check(e *oxbow.Entry) error {
	if err := b.count(len(e.Content)); err != nil {
		return err
	}
	if err := (oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels}).Check(); err != nil {
		return fmt.Errorf("%w: an entry is one that no memory can hold: %v", errServer, err) // which is no error of the caller
	}
	return nil
}

// contentBefore returns the content that both versions of a pair come from, "" where it
// is not known: of those that the home has had since both met, the one that the server
// had last. That is later than what both had where the end of a push was not recorded.
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
	_, _, err := s.versionOf(s.exact, homes, func(text string) bool {
		had[text] = true
		if base(text) {
			before = text
		}
		return base(text)
	})
	if err != nil {
		return "", err
	}
	text, ok, err := s.versionOf(s.server, servers, func(text string) bool { return had[text] || base(text) })
	if err != nil || ok {
		return text, err
	}
	return before, nil
}

// mostVersions is how many versions of an entry are looked through.
const mostVersions = 1000

// versionOf returns the newest content under some names that is one looked for, and
// whether there is one.
func (s *session) versionOf(store oxbow.Store, names []string, is func(string) bool) (string, bool, error) {
	return s.versions(store, names, func(v oxbow.Version) bool {
		return v.Verb != oxbow.VerbRemove && !v.Erased && is(v.Entry.Content)
	})
}

// versions returns the content of the newest version under some names that is one looked
// for, and whether there is one.
func (s *session) versions(store oxbow.Store, names []string, is func(oxbow.Version) bool) (string, bool, error) {
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
