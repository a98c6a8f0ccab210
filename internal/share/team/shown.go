// This file presents team files as a store. The source of each entry says whether the entry was reviewed.

package team

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// unreviewedReason is the value of the taint label (a mark for text from an untrusted source) that an unreviewed entry
// gets.
const unreviewedReason = "team files: not on the reviewed branch"

// privilegedLabels lists labels with special effects. Agents receive entries with the label "pinned" or "process" even
// if they do not search for these entries. The label [oxbow.LabelVerified] says that somebody has verified the entry.
// All these labels are removed from entries that were not reviewed.
var privilegedLabels = []string{"pinned", "process", oxbow.LabelVerified}

// TeamStore presents the entries of team files as a store. A reviewed entry has the actor [oxbow.Team], and its source
// names the reviewed branch and commit. Any other entry is marked as imported and as tainted, because an agent that can
// write files may have written the entry. The mark tainted is a label for text from an untrusted source. An entry that
// the user has shared from this machine is not tainted as long as the entry stays the same.
type TeamStore struct {
	fileStore             *Store
	readSharedEntryHashes func() map[string]bool // returns the hashes of the entries that the user has shared
	watchers              subscribers.List[oxbow.Event]
	stopWatching          func()

	// guards the fields below, which contain the state at the time when entries were last returned to a caller
	mu             sync.Mutex
	upstreamBranch Upstream
	sharedHashes   map[string]bool // the result of the last call of readSharedEntryHashes
}

var _ oxbow.Watcher = (*TeamStore)(nil)

// NewTeamStore returns a store with the entries of the store in the argument fileStore, which contains team files.
// Closing the TeamStore closes that store. The function readHashes returns the hashes of all entries that the user has
// shared. It may be nil.
func NewTeamStore(fileStore *Store, readHashes func() map[string]bool) *TeamStore {
	if readHashes == nil {
		readHashes = func() map[string]bool { return nil }
	}
	s := &TeamStore{fileStore: fileStore, readSharedEntryHashes: readHashes}
	s.stopWatching = fileStore.Watch(s.watchers.Send)
	return s
}

// Get implements [oxbow.Store].
func (s *TeamStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil || e.Name == name {
			return e, err
		}
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// Entries implements [oxbow.Store].
func (s *TeamStore) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		reviewed, up, err := s.fileStore.ReviewedNames(ctx)
		if err != nil {
			reviewed = nil // Treat all entries as not reviewed, because the reviewed branch is unknown.
		}
		own := s.readSharedEntryHashes()
		s.mu.Lock()
		s.upstreamBranch, s.sharedHashes = up, own
		s.mu.Unlock()
		for e, err := range s.fileStore.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				yield(e, err)
				return
			}
			e = labelReviewState(e.Clone(), reviewed[e.Name], own, up)
			if f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// labelReviewState returns an entry as the team store shows it. sharedHashes contains the hashes of the entries that
// the user has shared (see [EntryHash]). There are three cases:
//   - A reviewed entry gets the actor [oxbow.Team].
//   - An entry that the user has shared gets the actor [oxbow.Agent].
//   - Any other entry gets the actor [oxbow.Imported], and is marked as tainted (untrusted). Its privilegedLabels are
//     removed. This changes the elements of e.Labels, so the caller must pass a copy.
//
// The lowest two bits of the version encode the case, so that the version changes when the entry is reviewed or shared.
func labelReviewState(e oxbow.Entry, isReviewed bool, sharedHashes map[string]bool, upstream Upstream) oxbow.Entry {
	isOwn := !isReviewed && sharedHashes[EntryHash(e)]
	e.Version &^= 3
	if isReviewed {
		e.Version |= 1
		e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Team, Ref: upstream.String()}
		return e
	}
	e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Imported, Ref: Dir}
	if isOwn { // The user has shared the entry from this machine, and nobody has changed it since.
		e.Version |= 2
		e.Source.Actor = oxbow.Agent
		return e
	}
	e.Labels = slices.DeleteFunc(e.Labels, func(l oxbow.Label) bool { return slices.Contains(privilegedLabels, l.Key) })
	e.Labels = oxbow.SortLabels(append(
		e.Labels[:min(len(e.Labels), oxbow.MaxLabels-1)],
		oxbow.Label{Key: oxbow.LabelTaint, Value: unreviewedReason},
	))
	return e
}

// EntryHash returns the hash by which an entry that the user shared with the team is recognized. The result is the
// SHA-256 hash, in hex, of the text that package mdtree writes for the entry. This text's format must not change,
// because earlier versions stored lists of such hashes.
func EntryHash(e oxbow.Entry) string {
	sum := sha256.Sum256([]byte(mdtree.FormatEntry(e)))
	return hex.EncodeToString(sum[:])
}

// String returns the name of the branch and the abbreviated commit.
func (u Upstream) String() string {
	return u.Branch + " at " + u.Commit[:min(len(u.Commit), shortCommitLength)]
}

// Apply implements [oxbow.Store].
func (s *TeamStore) Apply(context.Context, ...oxbow.Op) error {
	return fmt.Errorf("team files are changed by oxbow team: %w", oxbow.ErrReadOnly)
}

// Watch implements [oxbow.Watcher].
func (s *TeamStore) Watch(fn func(oxbow.Event)) (stop func()) { return s.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher]. It checks whether the files, the reviewed branch or the list of shared entries
// have changed. If the branch or the list has changed, the watchers receive a reset event.
func (s *TeamStore) Refresh(ctx context.Context) error {
	if err := s.fileStore.Refresh(ctx); err != nil {
		return err
	}
	_, up, err := s.fileStore.tree.readUpstream(ctx)
	own := s.readSharedEntryHashes()
	s.mu.Lock()
	moved := (err == nil && s.upstreamBranch != up) || !maps.Equal(s.sharedHashes, own)
	s.mu.Unlock()
	if moved {
		s.watchers.Send(oxbow.Event{Reset: true})
	}
	return nil
}

// Close implements [oxbow.Store].
func (s *TeamStore) Close() error {
	s.stopWatching()
	return s.fileStore.Close()
}
