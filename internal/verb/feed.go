// Feed: the changes of a memory, of all processes, as they come.

package verb

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
	"github.com/oxbow-memory/oxbow/scope"
)

// Feed says when a memory changes. While there are listeners, and only then, it looks
// at each tick for changes of other processes; those of its own process it gets at
// once. It holds nothing of what changed: each listener reads that from its own view,
// when it can take it, so that no listener waits for another. It is safe for
// concurrent use.
type Feed struct {
	open func(context.Context, Access) (*oxbow.Memory, error)
	tick func() (ticks <-chan time.Time, stop func())

	running sync.Mutex // held while the poller starts or ends; guards end, which waits for it
	end     func()     // ends the poller; nil for none

	mu        sync.Mutex // guards the following
	listeners map[*Listener]bool
	resets    int // times that what was sent before no longer holds
}

// feedInterval is how often other processes are looked for, when the clock is the
// system's.
const feedInterval = 100 * time.Millisecond

// NewFeed returns the feed of the memory that open gives. A nil tick is a ticker of
// [feedInterval].
func NewFeed(open func(context.Context, Access) (*oxbow.Memory, error), tick func() (<-chan time.Time, func())) *Feed {
	if tick == nil {
		tick = func() (<-chan time.Time, func()) {
			t := time.NewTicker(feedInterval)
			return t.C, t.Stop
		}
	}
	return &Feed{open: open, tick: tick, listeners: map[*Listener]bool{}}
}

// Listener is one reader of a [Feed]. It is for one goroutine.
type Listener struct {
	// C receives when there may be something to take.
	C <-chan struct{}

	feed   *Feed
	wake   chan struct{}
	memory *oxbow.Memory // what the listener may see
	last   uint64        // the change up to which all was taken
	resets int           // of the feed, when the listener took last
	blind  bool          // the next Take is a reset
}

// News is what came since a listener took last.
type News struct {
	Last    uint64   // the number of the last change of the memory; 0 where changes have none
	Reset   bool     // what changed is not known: all is to be read again
	Changes []Change // the oldest first, without texts
}

// mostNews is how many changes a listener gets at once; of more it gets a reset.
const mostNews = 500

// Listen returns a listener for what a view of the memory, that of w, holds. It has
// taken all up to the change of that number, or up to now for ""; what it takes first says
// where that is. Close ends it. Errors match [oxbow.ErrInvalid] where after is no number.
func (f *Feed) Listen(ctx context.Context, w *Workspace, after string) (*Listener, error) {
	seq, err := strconv.ParseUint(cmp.Or(after, "0"), 10, 64)
	if err != nil {
		return nil, &oxbow.InvalidError{
			Field:  "the last event's id",
			Value:  text.Clip(strings.ToValidUTF8(after, ""), 40),
			Reason: "is not the number of a change",
		}
	}
	seen, err := w.Open(ctx, Read)
	if err != nil {
		return nil, err
	}
	all, err := f.open(ctx, Read)
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

// Take returns what came since the last call. News without a change, and without a
// reset, say only that the memory has moved on.
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

// since returns the changes of the view after the last one taken, with a removal of
// what left the view.
func (l *Listener) since(ctx context.Context) ([]Change, error) {
	var cs []Change
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
		cs = append(cs, pastOf(l.memory).changeOf(ctx, c))
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

// add adds a listener, and starts the poller with the first. The store is not called
// with mu held: it calls changed.
func (f *Feed) add(l *Listener, all *oxbow.Memory) error {
	w, ok := all.Store().(oxbow.Watcher)
	if !ok {
		return Advise(errNoEvents, "read the log from time to time")
	}
	f.running.Lock()
	defer f.running.Unlock()
	f.mu.Lock()
	l.resets = f.resets
	f.listeners[l] = true
	f.mu.Unlock()
	if f.end == nil {
		ctx, cancel := context.WithCancel(context.Background())
		stop := w.Watch(f.changed)
		var poller sync.WaitGroup
		poller.Go(func() { f.poll(ctx, w) })
		f.end = func() { cancel(); stop(); poller.Wait() }
	}
	return nil
}

var errNoEvents = fmt.Errorf("%w: this store does not report its changes", oxbow.ErrUnsupported)

// poll finds changes of other processes until ctx is done. What it finds comes back
// by changed; an error is that of the next call of any verb.
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

// changed wakes all listeners. The store calls it.
func (f *Feed) changed(e oxbow.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Reset {
		f.resets++
	}
	for l := range f.listeners {
		l.nudge()
	}
}

// span returns the first and the last change that the memory holds; 0 where it has
// no numbers.
func (f *Feed) span(ctx context.Context) (first, last uint64, err error) {
	all, err := f.open(ctx, Read)
	if err != nil {
		return 0, 0, err
	}
	s, err := StatsOf(ctx, all)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return 0, 0, nil
	}
	return s.First, s.Last, err
}
