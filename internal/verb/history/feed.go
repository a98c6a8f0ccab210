// This file implements the feed that reports changes of a memory, made by any process, as they
// happen.

package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/scope"
)

// Feed wakes listeners when a memory changes. A change by this process wakes the listeners at once.
// For changes by other processes, the Feed looks at each tick while it has listeners. The Feed does
// not store changes. Each listener reads the changes from a view of its own when it is ready, so
// that listeners do not wait for each other. Feed is safe for concurrent use.
type Feed struct {
	open func(context.Context, verb.Access) (*oxbow.Memory, error)
	tick func() (ticks <-chan time.Time, stop func())

	running sync.Mutex // held while the poller starts or ends (guards end)
	end     func()     // ends the poller and waits for it (nil if none runs)

	mu        sync.Mutex // guards the following
	listeners map[*Listener]bool
	resets    int // number of store events that made earlier changes invalid
}

// feedInterval is the time between two checks for changes of other processes, with the default
// ticker.
const feedInterval = 100 * time.Millisecond

// NewFeed returns the feed of the memory that open returns. If tick is nil, the feed uses a ticker
// with [feedInterval].
func NewFeed(
	open func(context.Context, verb.Access) (*oxbow.Memory, error),
	tick func() (<-chan time.Time, func()),
) *Feed {
	if tick == nil {
		tick = func() (<-chan time.Time, func()) {
			t := time.NewTicker(feedInterval)
			return t.C, t.Stop
		}
	}
	return &Feed{open: open, tick: tick, listeners: map[*Listener]bool{}}
}

// Listener is a reader of a [Feed]. It must be used by a single goroutine.
type Listener struct {
	// C receives a value when Take may have something to return.
	C <-chan struct{}

	feed   *Feed
	wake   chan struct{}
	memory *oxbow.Memory // the view of the memory that the listener may read
	last   uint64        // number of the last change that the listener has taken
	resets int           // value of Feed.resets at the last Take
	blind  bool          // the next Take returns a reset
}

// News is the result of [Listener.Take].
type News struct {
	Last    uint64        // number of the memory's last change (0 if changes are not numbered)
	Reset   bool          // the changes are unknown, so the reader has to read everything again
	Changes []verb.Change // oldest first, without contents of entries
}

// mostNews is the maximum number of changes collected between two calls of Take. After more changes, Take
// returns a reset.
const mostNews = 500

// Listen returns a listener for the memory as w shows it. The first Take returns the changes after
// change number after, or none if after is empty. It returns a reset if the memory has not reached
// that number. Close ends the listener. If after is not a number, the error matches
// [oxbow.ErrInvalid].
func (f *Feed) Listen(ctx context.Context, w *verb.Workspace, after string) (*Listener, error) {
	seq, err := strconv.ParseUint(cmp.Or(after, "0"), 10, 64)
	if err != nil {
		return nil, &oxbow.InvalidError{
			Field:  "the last event's id",
			Value:  text.Clip(strings.ToValidUTF8(after, ""), 40),
			Reason: "is not the number of a change",
		}
	}
	seen, err := w.Open(ctx, verb.Read)
	if err != nil {
		return nil, err
	}
	all, err := f.open(ctx, verb.Read)
	if err != nil {
		return nil, err
	}
	l := &Listener{feed: f, wake: make(chan struct{}, 1), memory: seen}
	l.C = l.wake
	if err := f.add(l, all); err != nil {
		return nil, err
	}
	_, last, err := f.span(ctx)
	if err != nil {
		l.Close()
		return nil, err
	}
	l.last = last
	if after != "" {
		l.blind = seq > last || last == 0
		l.last = min(seq, last)
	}
	l.nudge()
	return l, nil
}

// Close ends the listener.
func (l *Listener) Close() {
	f := l.feed
	f.running.Lock()
	defer f.running.Unlock()
	f.mu.Lock()
	delete(f.listeners, l)
	left := len(f.listeners)
	f.mu.Unlock()
	if left == 0 && f.end != nil {
		f.end()
		f.end = nil
	}
}

// Take returns the changes since the last call. News without changes and without a reset mean that
// the memory changed only outside of the listener's view, or not at all.
func (l *Listener) Take(ctx context.Context) (News, error) {
	l.feed.mu.Lock()
	blind := l.blind || l.resets != l.feed.resets
	l.resets = l.feed.resets
	l.feed.mu.Unlock()
	first, last, err := l.feed.span(ctx)
	if err != nil {
		return News{}, err
	}
	n := News{Last: last}
	switch {
	case blind || last == 0 || last < l.last || l.last+1 < first || last-l.last > mostNews:
		n.Reset = true
	case last > l.last:
		n.Changes, err = l.since(ctx)
	}
	if err != nil {
		return News{}, err
	}
	l.last, l.blind = last, false
	return n, nil
}

// since returns the changes in the view after the last taken change, oldest first. An entry that
// left the view is reported as removed.
func (l *Listener) since(ctx context.Context) ([]verb.Change, error) {
	var cs []verb.Change
	for c, err := range l.memory.Log(scope.WithLeaves(ctx)) {
		if err != nil {
			return nil, err
		}
		if c.Seq <= l.last {
			break
		}
		for i := range c.Versions {
			c.Versions[i].Entry.Content = ""
		}
		cs = append(cs, verb.NewPastTexts(l.memory).VisibleChange(ctx, c))
	}
	slices.Reverse(cs)
	return cs, nil
}

// nudge wakes the listener. It never waits.
func (l *Listener) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// add adds a listener, and starts the poller for the first listener. It must not call the store
// while holding f.mu, because the store calls changed, which locks f.mu.
func (f *Feed) add(l *Listener, all *oxbow.Memory) error {
	w := oxbow.CapabilitiesOf(all).Watcher
	if w == nil {
		return verb.Advise(errNoEvents, "read the log from time to time")
	}
	f.running.Lock()
	defer f.running.Unlock()
	f.mu.Lock()
	l.resets = f.resets
	f.listeners[l] = true
	f.mu.Unlock()
	if f.end == nil {
		ctx, cancel := context.WithCancel(context.Background())
		stop := w.Watch(f.wakeAll)
		var poller sync.WaitGroup
		poller.Go(func() { f.poll(ctx, w) })
		f.end = func() { cancel(); stop(); poller.Wait() }
	}
	return nil
}

var errNoEvents = fmt.Errorf("%w: this store does not report its changes", oxbow.ErrUnsupported)

// poll makes the store look for changes of other processes until ctx is done. The store reports
// them by calling changed. Errors are ignored, because the next call of any verb returns them.
func (f *Feed) poll(ctx context.Context, w oxbow.Watcher) {
	ticks, stop := f.tick()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			_ = w.Refresh(ctx)
		}
	}
}

// wakeAll wakes all listeners. The store calls it.
func (f *Feed) wakeAll(e oxbow.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Reset {
		f.resets++
	}
	for l := range f.listeners {
		l.nudge()
	}
}

// span returns the numbers of the memory's first and last change. It returns zeros if changes are
// not numbered.
func (f *Feed) span(ctx context.Context) (first, last uint64, err error) {
	all, err := f.open(ctx, verb.Read)
	if err != nil {
		return 0, 0, err
	}
	s, err := all.Stats(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return 0, 0, nil
	}
	return s.First, s.Last, err
}
