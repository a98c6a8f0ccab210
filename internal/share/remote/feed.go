// This file numbers the events of stores that do not number their changes.

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

// sequencer contains the methods of [oxbow.Sequencer] that the server needs.
type sequencer interface {
	Position(ctx context.Context) (oxbow.Position, error)
	Since(ctx context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error]
}

// Limits of the stored events. A client that was away for longer has to read all entries again.
const (
	maxFeeds     = 64
	maxFeedSteps = 1024
	maxFeedBytes = 16 << 20
)

// feeds contains the feeds of the stores that were used last.
type feeds struct {
	mu  sync.Mutex // guards all
	all []*feed    // the most recently used feed is last
}

func newFeeds() *feeds { return &feeds{} }

// feedFor returns the feed of a store. The first call creates the feed.
func (fs *feeds) feedFor(w oxbow.Watcher) *feed {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	i := slices.IndexFunc(fs.all, func(f *feed) bool { return isSameStore(f.store, w) })
	if i < 0 {
		f := &feed{store: w}
		f.begin()
		f.stop = w.Watch(f.addEvent)
		fs.all = append(fs.all, f)
		if len(fs.all) > maxFeeds {
			fs.all[0].stop()
			fs.all = fs.all[1:]
		}
		return f
	}
	f := fs.all[i]
	fs.all = append(slices.Delete(fs.all, i, i+1), f)
	return f
}

// isSameStore reports whether a and b are the same store.
func isSameStore(a, b oxbow.Watcher) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.TypeOf(a).Comparable() && a == b
}

// feed keeps the last events of a store. A position in the feed consists of the feed's ID (16
// bytes), which changes after a reset, and the number of events (8 bytes, big-endian).
type feed struct {
	store oxbow.Watcher
	stop  func()

	mu    sync.Mutex // guards all fields below
	id    [16]byte
	first uint64 // number of events that were dropped
	kept  [][]oxbow.Delta
	bytes int // size of the contents in kept
}

// begin empties the feed and gives it a new ID, so that all earlier positions become invalid.
func (f *feed) begin() {
	_, _ = rand.Read(f.id[:]) // rand.Read never fails
	f.first = 0
	f.kept = nil
	f.bytes = 0
}

// addEvent adds an event of the store.
func (f *feed) addEvent(e oxbow.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Reset {
		f.begin()
	}
	if len(e.Changes) == 0 {
		return
	}
	f.kept = append(f.kept, e.Changes)
	f.bytes += contents(e.Changes)
	for len(f.kept) > maxFeedSteps || (f.bytes > maxFeedBytes && len(f.kept) > 1) {
		f.bytes -= contents(f.kept[0])
		f.kept, f.first = f.kept[1:], f.first+1
	}
}

func contents(ds []oxbow.Delta) (n int) {
	for _, d := range ds {
		n += 64
		if d.Entry != nil {
			n += len(d.Entry.Content)
		}
	}
	return n
}

// Position implements sequencer.
func (f *feed) Position(ctx context.Context) (oxbow.Position, error) {
	if err := f.store.Refresh(ctx); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return oxbow.Position(binary.BigEndian.AppendUint64(f.id[:], f.first+uint64(len(f.kept)))), nil
}

// Since implements sequencer.
func (f *feed) Since(_ context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error] {
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

// eventsAfter returns the events after a position. It returns false if the feed has already
// dropped some of these events.
func (f *feed) eventsAfter(p oxbow.Position) ([][]oxbow.Delta, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p) != 24 || !bytes.Equal([]byte(p[:16]), f.id[:]) {
		return nil, false
	}
	n := binary.BigEndian.Uint64([]byte(p[16:]))
	if n < f.first || n > f.first+uint64(len(f.kept)) {
		return nil, false
	}
	return slices.Clone(f.kept[n-f.first:]), true
}
