// This file reads both sides: all entries of the home, and the changes on the server since the last synchronization.

package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// isUnsyncedKind reports whether entries of this kind belong to one machine's sessions. They are not synchronized.
func isUnsyncedKind(k oxbow.Kind) bool { return k == oxbow.Handoff || k == oxbow.History }

// errUnusableAnswer is the error for an answer that a correct server never sends.
var errUnusableAnswer = errors.New("the server's answer cannot be used, and nothing was changed")

// homeOrServerEntries contains the entries that were read from one side, which is the home or the server.
type homeOrServerEntries struct {
	entriesByName map[string]*oxbow.Entry
	// the entries by ID (nil for an entry that was removed since the last synchronization)
	entriesByID map[uint64]*oxbow.Entry
	entryList   []*oxbow.Entry
	isComplete  bool // all entries of the home or the server were read, and not only the changed entries
	// The change history continues from the last synchronization and was not replaced. Therefore an entry that is
	// missing now was really removed.
	isHistoryContinued bool
	// only the entries that changed since the last synchronization were read, and none of these changes is missing
	areAllChangesRead bool
}

func newHomeOrServerEntries() *homeOrServerEntries {
	return &homeOrServerEntries{entriesByName: map[string]*oxbow.Entry{}, entriesByID: map[uint64]*oxbow.Entry{}}
}

func (d *homeOrServerEntries) addEntryToIndex(e oxbow.Entry) {
	if isUnsyncedKind(e.Kind) {
		d.entriesByID[e.ID] = nil
		return
	}
	d.entriesByID[e.ID], d.entriesByName[e.Name] = &e, &e
	d.entryList = append(d.entryList, &e)
}

// findEntryByName returns the entry with this name, or nil. Different spellings of a name count as equal.
func (d *homeOrServerEntries) findEntryByName(name string) *oxbow.Entry {
	for _, form := range oxbow.AllNameForms([]string{name}) {
		if e := d.entriesByName[form]; e != nil {
			return e
		}
	}
	return nil
}

func (s *syncRun) readHome() (*homeOrServerEntries, error) {
	d := newHomeOrServerEntries()
	d.isComplete = true
	for e, err := range s.exactNameHomeStore.Entries(s.ctx, oxbow.Filter{}) {
		if err != nil {
			return nil, err
		}
		d.addEntryToIndex(e)
	}
	now, err := readStorePosition(s.ctx, s.exactNameHomeStore)
	if err != nil {
		return nil, err
	}
	s.homePos = now
	d.isHistoryContinued = s.state.homeHistoryPosition == now || s.state.homeHistoryPosition.Precedes(now)
	s.wasLastPullUndone, err = s.isPullUndone()
	if s.wasLastPullUndone {
		s.state.undoPull()
	}
	return d, err
}

// isPullUndone reports whether somebody has undone at least one change of the last pull. A change does not count as
// undone if the undo was undone as well. The result is false if there was no pull, or if the home has no history.
func (s *syncRun) isPullUndone() (bool, error) {
	h, err := oxbow.HistoryOf(s.home)
	if err != nil || len(s.state.lastPullChangeNumbers) == 0 {
		return false, nil
	}
	reverted := map[uint64]bool{}
	for c, err := range h.Log(s.ctx) {
		if err != nil {
			return false, err
		}
		if c.Seq <= s.state.lastPullChangeNumbers[0] {
			break
		}
		for _, seq := range c.Reverts {
			reverted[seq] = reverted[seq] || !reverted[c.Seq]
		}
	}
	for _, seq := range s.state.lastPullChangeNumbers {
		if reverted[seq] {
			return true, nil
		}
	}
	return false, nil
}

// readServerEntries reads entries from the server. Normally it reads only the changes on the server since the last
// synchronization. It reads all entries of the server instead in these cases:
//   - The server cannot list all of these changes, or there was no synchronization before.
//   - Somebody undid the last pull, which is the last copying of the server's entries to the home (the local memory
//     directory).
//   - The parameter isHomeHistoryTrusted is false. The caller sets it to true if the home's change history continues
//     from the last synchronization.
//   - A record of the last synchronization has no entry ID, and no changed entry on the server has the name in the
//     record. Records of removed entries do not count.
func (s *syncRun) readServerEntries(isHomeHistoryTrusted bool) (d *homeOrServerEntries, err error) {
	s.serverPos, err = s.readPosition()
	if err != nil {
		return nil, err
	}
	d = newHomeOrServerEntries()
	if s.state.serverPosition != "" {
		if err := s.readServerChanges(d, s.state.serverPosition); err != nil && !errors.Is(err, oxbow.ErrPosition) {
			return nil, err
		} else if err == nil {
			d.isHistoryContinued, d.areAllChangesRead = true, true
		}
	}
	isComplete := !d.areAllChangesRead || s.wasLastPullUndone || !isHomeHistoryTrusted
	for _, r := range s.state.records {
		isComplete = isComplete || (!r.WasRemoved && r.ID == 0 && d.entriesByName[r.ServerEntry.EntryName] == nil)
	}
	if !isComplete {
		return d, nil
	}
	all := newHomeOrServerEntries()
	all.isComplete = true
	all.isHistoryContinued = d.isHistoryContinued
	all.areAllChangesRead = d.areAllChangesRead
	if !all.isHistoryContinued {
		all.isHistoryContinued, err = s.isServerHistoryContinued()
		if err != nil {
			return nil, err
		}
	}
	return all, s.readAllServerEntries(all)
}

// readPosition returns the present position in the server's history.
func (s *syncRun) readPosition() (oxbow.Position, error) {
	p, err := readStorePosition(s.ctx, s.server)
	if err == nil && len(p) > maxPositionBytes {
		err = fmt.Errorf("%w: its position has %d bytes", errUnusableAnswer, len(p))
	}
	return p, err
}

// readAllServerEntries reads all entries of the server and adds them to its argument. It returns an error if two
// entries have the same name, or if the server sends too much.
func (s *syncRun) readAllServerEntries(serverEntries *homeOrServerEntries) error {
	b := s.newServerReadCounter()
	for e, err := range s.server.Entries(s.ctx, oxbow.Filter{}) {
		if err == nil {
			err = b.countAndCheckEntry(&e)
		}
		if err == nil && serverEntries.entriesByName[e.Name] != nil {
			err = fmt.Errorf("%w: two entries are named %q", errUnusableAnswer, e.Name)
		}
		if err != nil {
			return err
		}
		serverEntries.addEntryToIndex(e)
	}
	return nil
}

// isServerHistoryContinued reports whether the server's history contains the newest server version that the sync
// records mention. The check is needed for servers whose positions become invalid at a restart. It shows whether the
// server still has the same store, and not a different store or a restored backup. It returns false if no record has a
// server version.
func (s *syncRun) isServerHistoryContinued() (bool, error) {
	var last *syncRecord
	for _, r := range s.state.records {
		if r.ID == 0 {
			continue
		}
		if last == nil || r.Version > last.Version {
			last = r
		}
	}
	if last == nil {
		return false, nil
	}
	found := false
	_, _, err := s.findNewestMatchingContent(
		s.server,
		[]string{last.ServerEntry.EntryName},
		func(v oxbow.Version) bool {
			found = found || (v.Seq == last.Version && v.Source.Time.UnixNano() == last.UpdatedNanoseconds)
			return found || v.Seq < last.Version
		},
	)
	return found, err
}

// readServerChanges adds the entries that have changed on the server to d. The parameter from is the position in the
// server's history after which changes are read. For an entry that was removed, d.entriesByID[ID] becomes nil. It
// returns an error if the server's answer is too large or contradicts itself.
func (s *syncRun) readServerChanges(d *homeOrServerEntries, from oxbow.Position) error {
	if s.serverPos == from {
		return nil
	}
	b := s.newServerReadCounter()
	last := map[uint64]*oxbow.Entry{}
	var order []uint64
	for delta, err := range oxbow.CapabilitiesOf(s.server).Sequencer.Since(s.ctx, from) {
		switch {
		case err != nil:
		case delta.Entry == nil:
			err = b.countEntry(0)
		case delta.Entry.ID != delta.ID:
			err = fmt.Errorf("%w: entry %d is told of as %d", errUnusableAnswer, delta.Entry.ID, delta.ID)
		default:
			err = b.countAndCheckEntry(delta.Entry)
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
			d.entriesByID[id] = nil
		} else if d.entriesByName[e.Name] != nil {
			return fmt.Errorf("%w: two entries are named %q", errUnusableAnswer, e.Name)
		} else {
			d.addEntryToIndex(*e)
		}
	}
	return nil
}

// serverReadCounter counts the entries and the bytes that were read from a server. Reading fails if there are more than
// maxEntries entries or maxBytesFromServer bytes.
type serverReadCounter struct{ entries, bytes, maxEntries int }

func (s *syncRun) newServerReadCounter() *serverReadCounter {
	return &serverReadCounter{maxEntries: cmp.Or(s.opts.maxEntries, maxEntriesReadFromServer)}
}

// countEntry counts an entry of this size in bytes. It fails if a limit is exceeded.
func (b *serverReadCounter) countEntry(bytes int) error {
	b.entries, b.bytes = b.entries+1, b.bytes+bytes
	if b.entries > b.maxEntries || b.bytes > maxBytesFromServer {
		return fmt.Errorf("%w: there are more than %d entries, or than %d bytes", errUnusableAnswer, b.maxEntries,
			maxBytesFromServer)
	}
	return nil
}

func (b *serverReadCounter) countAndCheckEntry(e *oxbow.Entry) error {
	if err := b.countEntry(len(e.Content)); err != nil {
		return err
	}
	if err := (oxbow.Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases,
		Labels: e.Labels}).Check(); err != nil {
		// Do not wrap err: it would say that the caller made a mistake, but the server did.
		return fmt.Errorf("%w: an entry is one that no memory can hold: %v", errUnusableAnswer, err)
	}
	return nil
}

// mergeBaseContent returns the content from which the merge of the home's entry and the server's entry starts. This is
// the newest content that both entries have had since the last synchronization. If no such content is known,
// mergeBaseContent returns "". The content may be newer than the content in the sync record, because a push that was
// killed at the end may not have updated the record.
func (s *syncRun) mergeBaseContent(p *entryPair) (string, error) {
	base := func(text string) bool {
		return p.trustedRecord != nil && s.state.saltedHash(text) == p.trustedRecord.Content
	}
	for _, v := range []*oxbow.Entry{p.homeEntry, p.serverEntry} {
		if base(v.Content) {
			return v.Content, nil
		}
	}
	homes, servers := []string{p.homeEntry.Name}, []string{p.serverEntry.Name}
	if r := p.trustedRecord; r != nil {
		homes, servers = append(homes, r.HomeEntry.EntryName), append(servers, r.ServerEntry.EntryName)
	}
	versions, before := map[string]bool{}, ""
	_, _, err := s.findNewestContent(s.exactNameHomeStore, homes, func(text string) bool {
		versions[text] = true
		if base(text) {
			before = text
		}
		return base(text)
	})
	if err != nil {
		return "", err
	}
	text, ok, err := s.findNewestContent(
		s.server,
		servers,
		func(text string) bool { return versions[text] || base(text) },
	)
	if err != nil || ok {
		return text, err
	}
	return before, nil
}

// maxExaminedVersions is the maximum number of versions that are examined for an entry.
const maxExaminedVersions = 1000

// findNewestContent returns the newest content among all versions with one of the names for which the function matches
// returns true. Removed and erased versions are ignored. The bool result is false if there is no such content.
func (s *syncRun) findNewestContent(
	store oxbow.Store,
	names []string,
	matches func(string) bool,
) (string, bool, error) {
	return s.findNewestMatchingContent(store, names, func(v oxbow.Version) bool {
		return v.Verb != oxbow.VerbRemove && !v.Erased && matches(v.Entry.Content)
	})
}

// findNewestMatchingContent searches the versions of the entries with these names. It examines the names in order, and
// the versions of each name from the newest to the oldest. It returns the content of the first version for which the
// function matches returns true. The bool result is false if there is no such version, if the store has no history, if
// more than maxExaminedVersions versions were examined, or if an error is returned. Reaching this limit is not an
// error.
func (s *syncRun) findNewestMatchingContent(
	store oxbow.Store,
	names []string,
	matches func(oxbow.Version) bool,
) (string, bool,
	error) {
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
			if err != nil || n > maxExaminedVersions {
				return "", false, err
			}
			if matches(v) {
				return v.Entry.Content, true, nil
			}
		}
	}
	return "", false, nil
}
