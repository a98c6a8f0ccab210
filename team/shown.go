// Entries as a memory shows them: each says how its file stands.

package team

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/watch"
)

// localTaint is the taint of entries that are not reviewed.
const localTaint = "team files: not on the reviewed branch"

// unproven are the labels that put an entry before an agent unasked, or by which a
// program vouches for one: they count in files that were reviewed.
var unproven = []string{"pinned", "process", oxbow.LabelVerified}

// Shown is the entries of team files as a memory shows them. Those that are reviewed
// are by [oxbow.Team], with the branch and its commit as the reference of their source.
// The others are imported and, but for those that the user shared as they are, tainted:
// an agent that may write files could have written them.
type Shown struct {
	files    *Store
	own      map[string]bool // prints of those that the user shared
	watchers watch.List[oxbow.Event]
	stop     func()

	mu sync.Mutex // guards up
	up Upstream   // for which entries were shown last
}

var _ oxbow.Watcher = (*Shown)(nil)

// Show returns the entries of files, which it closes. Own are the prints of those that
// the user shared.
func Show(files *Store, own map[string]bool) *Shown {
	s := &Shown{files: files, own: own}
	s.stop = files.Watch(s.watchers.Send)
	return s
}

// Get implements [oxbow.Store].
func (s *Shown) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil || e.Name == name {
			return e, err
		}
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

// Entries implements [oxbow.Store].
func (s *Shown) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		reviewed, up, err := s.files.Reviewed(ctx)
		if err != nil {
			reviewed = nil // all count as local
		}
		s.mu.Lock()
		s.up = up
		s.mu.Unlock()
		for e, err := range s.files.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				yield(e, err)
				return
			}
			if e = s.shown(e.Clone(), reviewed[e.Name], up); f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// shown returns an entry as it is shown. Its version is another when it is reviewed.
func (s *Shown) shown(e oxbow.Entry, reviewed bool, up Upstream) oxbow.Entry {
	own := !reviewed && s.own[Print(e)]
	e.Version &^= 1
	if reviewed {
		e.Version |= 1
		e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Team, Ref: up.String()}
		return e
	}
	e.Source = oxbow.Source{Time: e.Source.Time, Actor: oxbow.Imported, Ref: Dir}
	if own {
		return e
	}
	e.Labels = slices.DeleteFunc(e.Labels, func(l oxbow.Label) bool { return slices.Contains(unproven, l.Key) })
	e.Labels = oxbow.SortLabels(append(e.Labels[:min(len(e.Labels), oxbow.MaxLabels-1)], oxbow.Label{Key: oxbow.LabelTaint, Value: localTaint}))
	return e
}

// Print returns the hash of the file of an entry, by which it is known again.
func Print(e oxbow.Entry) string {
	sum := sha256.Sum256([]byte(format(&e)))
	return hex.EncodeToString(sum[:])
}

// String names the branch and the commit that it is at.
func (u Upstream) String() string {
	return u.Branch + " at " + u.Commit[:min(len(u.Commit), shortCommit)]
}

// Apply implements [oxbow.Store].
func (s *Shown) Apply(context.Context, ...oxbow.Op) error {
	return fmt.Errorf("team files are changed by oxbow team: %w", oxbow.ErrReadOnly)
}

// Watch implements [oxbow.Watcher].
func (s *Shown) Watch(fn func(oxbow.Event)) (stop func()) { return s.watchers.Add(fn) }

// Refresh implements [oxbow.Watcher]: it looks for edits, and whether the reviewed branch
// moved on.
func (s *Shown) Refresh(ctx context.Context) error {
	if err := s.files.Refresh(ctx); err != nil {
		return err
	}
	_, up, err := s.files.tree.upstream(ctx)
	s.mu.Lock()
	moved := err == nil && s.up != up
	s.mu.Unlock()
	if moved {
		s.watchers.Send(oxbow.Event{Reset: true})
	}
	return nil
}

// Close implements [oxbow.Store].
func (s *Shown) Close() error {
	s.stop()
	return s.files.Close()
}
