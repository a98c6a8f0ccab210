// This file gives positions to the events of stores that do not number their changes.

package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
)

// changeSequencer contains the methods of [oxbow.Sequencer] that the server uses.
type changeSequencer interface {
	Position(ctx context.Context) (oxbow.Position, error)
	Since(ctx context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error]
}

// Limits for the events that a server keeps. A client that needs older events has to read all entries again.
const (
	maxEventFeeds     = 64
	maxFeedEvents     = 1024
	maxEventFeedBytes = 16 << 20
)

// eventFeeds contains the feeds of the stores that were used most recently.
type eventFeeds struct {
	mu       sync.Mutex         // guards allFeeds
	allFeeds []*recentEventFeed // all feeds; the one that was used last is at the end
}

func newEventFeeds() *eventFeeds { return &eventFeeds{} }

// feedFor returns the feed of a store. If the store lacks a feed, feedFor creates one. If there are then more than
// maxEventFeeds feeds, it stops and drops the feed that was not requested for the longest time.
func (fs *eventFeeds) feedFor(w oxbow.Watcher) *recentEventFeed {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	i := slices.IndexFunc(fs.allFeeds, func(f *recentEventFeed) bool { return isSameStore(f.store, w) })
	if i < 0 {
		f := &recentEventFeed{store: w}
		f.dropEvents()
		f.stop = w.Watch(f.addEvent)
		fs.allFeeds = append(fs.allFeeds, f)
		if len(fs.allFeeds) > maxEventFeeds {
			fs.allFeeds[0].stop()
			fs.allFeeds = fs.allFeeds[1:]
		}
		return f
	}
	f := fs.allFeeds[i]
	fs.allFeeds = append(slices.Delete(fs.allFeeds, i, i+1), f)
	return f
}

// isSameStore reports whether a and b are the same store.
func isSameStore(a, b oxbow.Watcher) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// recentEventFeed keeps the last events (changes) of a store. A position in the feed contains the feed's ID (16 bytes)
// and the number of events before the position (8 bytes, big-endian). If the feed starts anew, its ID changes, so that
// old positions become invalid.
type recentEventFeed struct {
	store oxbow.Watcher
	stop  func()

	mu                sync.Mutex // guards the fields below
	id                [16]byte
	droppedEventCount uint64 // number of events that were removed from the start of the slice events
	events            [][]oxbow.Delta
	eventBytes        int // size of the contents in events, in bytes
}

// dropEvents removes all events and changes the feed's ID, so that all earlier positions become invalid.
func (f *recentEventFeed) dropEvents() {
	_, _ = rand.Read(f.id[:]) // rand.Read never fails.
	f.droppedEventCount = 0
	f.events = nil
	f.eventBytes = 0
}

// addEvent adds an event of the store, and drops the oldest events if there are too many.
func (f *recentEventFeed) addEvent(e oxbow.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Reset {
		f.dropEvents()
	}
	if len(e.Changes) == 0 {
		return
	}
	f.events = append(f.events, e.Changes)
	f.eventBytes += sumContentBytes(e.Changes)
	for len(f.events) > maxFeedEvents || (f.eventBytes > maxEventFeedBytes && len(f.events) > 1) {
		f.eventBytes -= sumContentBytes(f.events[0])
		f.events, f.droppedEventCount = f.events[1:], f.droppedEventCount+1
	}
}

func sumContentBytes(ds []oxbow.Delta) (n int) {
	for _, d := range ds {
		n += 64
		if d.Entry != nil {
			n += len(d.Entry.Content)
		}
	}
	return n
}

// Position implements changeSequencer. It returns the position after the store's last event.
func (f *recentEventFeed) Position(ctx context.Context) (oxbow.Position, error) {
	if err := f.store.Refresh(ctx); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return oxbow.Position(binary.BigEndian.AppendUint64(f.id[:], f.droppedEventCount+uint64(len(f.events)))), nil
}

// Since implements changeSequencer. It yields the changes in the events after position p.
func (f *recentEventFeed) Since(_ context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error] {
	return func(yield func(oxbow.Delta, error) bool) {
		steps, ok := f.eventsAfter(p)
		if !ok {
			yield(oxbow.Delta{}, fmt.Errorf("%w: read all entries", oxbow.ErrPosition))
			return
		}
		for _, ds := range steps {
			for _, d := range ds {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// eventsAfter returns the events after a position. It returns false if the position is invalid, or if some of these
// events were already dropped.
func (f *recentEventFeed) eventsAfter(p oxbow.Position) ([][]oxbow.Delta, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p) != 24 || !bytes.Equal([]byte(p[:16]), f.id[:]) {
		return nil, false
	}
	n := binary.BigEndian.Uint64([]byte(p[16:]))
	if n < f.droppedEventCount || n > f.droppedEventCount+uint64(len(f.events)) {
		return nil, false
	}
	return slices.Clone(f.events[n-f.droppedEventCount:]), true
}
