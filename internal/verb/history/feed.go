// This file implements the feed, which reports changes of a memory by any process as they happen.

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

// ChangeFeed wakes listeners when a memory changes. A change by this process wakes them at once. To find changes by
// other processes, the feed checks the memory at each tick while it has listeners. The feed does not store changes.
// When ready, each listener reads the changes from its own view of the memory, so that no listener waits for another.
// A ChangeFeed is safe for concurrent use.
type ChangeFeed struct {
	openMemory func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error)
	newTicker  func() (ticks <-chan time.Time, stop func())

	pollerMu sync.Mutex // held while the poller starts or ends; guards stopPoller
	// ends the goroutine that polls the store, and waits for its end (nil if no such goroutine is running)
	stopPoller func()

	mu              sync.Mutex // mu guards the fields below.
	listeners       map[*ChangeListener]bool
	storeResetCount int // how often the store has reported that listeners must read everything again
}

// defaultTickInterval is the time after which the feed by default asks the store for changes again.
const defaultTickInterval = 100 * time.Millisecond

// NewChangeFeed returns a feed of the changes in the memory that the function openMemory returns. If newTicker is nil,
// the feed polls the memory every [defaultTickInterval].
func NewChangeFeed(
	openMemory func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error),
	newTicker func() (<-chan time.Time, func()),
) *ChangeFeed {
	if newTicker == nil {
		newTicker = func() (<-chan time.Time, func()) {
			t := time.NewTicker(defaultTickInterval)
			return t.C, t.Stop
		}
	}
	return &ChangeFeed{openMemory: openMemory, newTicker: newTicker, listeners: map[*ChangeListener]bool{}}
}

// ChangeListener reads the changes from a [ChangeFeed]. Only one goroutine may use it.
type ChangeListener struct {
	// ChangesReady receives a value when ReadChanges may have something to return.
	ChangesReady <-chan struct{}

	feed               *ChangeFeed
	wakeChannel        chan struct{}
	memory             *oxbow.Memory // the part of the memory that the listener's caller may see
	lastReturnedChange uint64        // number of the last change that ReadChanges has returned
	seenResetCount     int           // value of ChangeFeed.storeResetCount at the last ReadChanges call
	// The next call of ReadChanges must tell the reader to read everything again (see
	// UnreadChanges.MustReadEverything).
	mustReportReset bool
}

// UnreadChanges is the result of [ChangeListener.ReadChanges].
type UnreadChanges struct {
	// number of the memory's last change, or 0 if the store does not number its changes
	LastSeq            uint64
	MustReadEverything bool          // The changes are not known, so the reader must read everything again.
	Changes            []verb.Change // changes, oldest first, without the contents of entries
}

// maxReturnedChanges is the maximum number of changes that ReadChanges returns. If more changes were made since the
// last call, ReadChanges sets MustReadEverything instead, so that the reader reads everything again.
const maxReturnedChanges = 500

// Listen returns a listener for the changes in the memory that the workspace w shows. The caller must close it. The
// first call of [ChangeListener.ReadChanges] returns the changes after the change with the number afterSeq. If afterSeq
// is "", it returns only changes that are made after the call of Listen.
//
// If the change afterSeq does not exist because the log ends before it, ReadChanges reports that the client must read
// everything again. If afterSeq is not a number, the error matches [oxbow.ErrInvalid].
func (f *ChangeFeed) Listen(ctx context.Context, w *verb.Workspace, afterSeq string) (*ChangeListener, error) {
	seq, err := strconv.ParseUint(cmp.Or(afterSeq, "0"), 10, 64)
	if err != nil {
		return nil, &oxbow.InvalidError{
			Field:  "the last event's id",
			Value:  text.TruncateWithEllipsis(strings.ToValidUTF8(afterSeq, ""), 40),
			Reason: "is not the number of a change",
		}
	}
	seen, err := w.Open(ctx, verb.Read)
	if err != nil {
		return nil, err
	}
	all, err := f.openMemory(ctx, verb.Read)
	if err != nil {
		return nil, err
	}
	l := &ChangeListener{feed: f, wakeChannel: make(chan struct{}, 1), memory: seen}
	l.ChangesReady = l.wakeChannel
	if err := f.addListener(l, all); err != nil {
		return nil, err
	}
	_, last, err := f.changeRange(ctx)
	if err != nil {
		l.Close()
		return nil, err
	}
	l.lastReturnedChange = last
	if afterSeq != "" {
		l.mustReportReset = seq > last || last == 0
		l.lastReturnedChange = min(seq, last)
	}
	l.wakeUp()
	return l, nil
}

// Close ends the listener. The feed stops polling after the last listener is gone.
func (l *ChangeListener) Close() {
	f := l.feed
	f.pollerMu.Lock()
	defer f.pollerMu.Unlock()
	f.mu.Lock()
	delete(f.listeners, l)
	left := len(f.listeners)
	f.mu.Unlock()
	if left == 0 && f.stopPoller != nil {
		f.stopPoller()
		f.stopPoller = nil
	}
}

// ReadChanges returns the changes since the last call. If the changes cannot be determined, or if there are more than
// maxReturnedChanges changes, the field MustReadEverything of the result is true, and the field Changes is empty. The
// caller must then read everything again.
//
// If the field Changes is empty and MustReadEverything is false, nothing has changed that the listener may see.
func (l *ChangeListener) ReadChanges(ctx context.Context) (UnreadChanges, error) {
	l.feed.mu.Lock()
	blind := l.mustReportReset || l.seenResetCount != l.feed.storeResetCount
	l.seenResetCount = l.feed.storeResetCount
	l.feed.mu.Unlock()
	first, last, err := l.feed.changeRange(ctx)
	if err != nil {
		return UnreadChanges{}, err
	}
	n := UnreadChanges{LastSeq: last}
	switch {
	case blind || last == 0 || last < l.lastReturnedChange || l.lastReturnedChange+1 < first ||
		last-l.lastReturnedChange > maxReturnedChanges:
		n.MustReadEverything = true
	case last > l.lastReturnedChange:
		n.Changes, err = l.changesSinceLast(ctx)
	}
	if err != nil {
		return UnreadChanges{}, err
	}
	l.lastReturnedChange, l.mustReportReset = last, false
	return n, nil
}

// changesSinceLast returns the changes with a number greater than l.lastReturnedChange, oldest first. It removes the
// content of the entries in the changes, and everything that the listener may not see. An entry that the listener may
// no longer see is reported as removed.
func (l *ChangeListener) changesSinceLast(ctx context.Context) ([]verb.Change, error) {
	var cs []verb.Change
	for c, err := range l.memory.Log(scope.WithLeaves(ctx)) {
		if err != nil {
			return nil, err
		}
		if c.Seq <= l.lastReturnedChange {
			break
		}
		for i := range c.Versions {
			c.Versions[i].Entry.Content = ""
		}
		cs = append(cs, verb.NewPastTextFilter(l.memory).FilterChange(ctx, c))
	}
	slices.Reverse(cs)
	return cs, nil
}

// wakeUp wakes the listener. It never waits.
func (l *ChangeListener) wakeUp() {
	select {
	case l.wakeChannel <- struct{}{}:
	default:
	}
}

// addListener adds a listener, and starts the goroutine that polls the store if the goroutine does not run yet. It
// returns an error if wholeMemory cannot report changes. addListener must not call the store while it holds f.mu,
// because the store may call wakeAllListeners, which locks f.mu.
func (f *ChangeFeed) addListener(l *ChangeListener, wholeMemory *oxbow.Memory) error {
	w := oxbow.CapabilitiesOf(wholeMemory).Watcher
	if w == nil {
		return verb.Advise(errNoEvents, "read the log from time to time")
	}
	f.pollerMu.Lock()
	defer f.pollerMu.Unlock()
	f.mu.Lock()
	l.seenResetCount = f.storeResetCount
	f.listeners[l] = true
	f.mu.Unlock()
	if f.stopPoller == nil {
		ctx, cancel := context.WithCancel(context.Background())
		stop := w.Watch(f.wakeAllListeners)
		var poller sync.WaitGroup
		poller.Go(func() { f.pollStore(ctx, w) })
		f.stopPoller = func() { cancel(); stop(); poller.Wait() }
	}
	return nil
}

var errNoEvents = fmt.Errorf("%w: this store does not report its changes", oxbow.ErrUnsupported)

// pollStore calls w.Refresh at each tick, until ctx is done. Refresh makes the store look for changes by other
// processes and report each change to the feed. pollStore ignores errors, because the next call that uses the memory
// returns the same error.
func (f *ChangeFeed) pollStore(ctx context.Context, w oxbow.Watcher) {
	ticks, stop := f.newTicker()
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

// wakeAllListeners wakes all listeners. The store calls it with each event.
func (f *ChangeFeed) wakeAllListeners(e oxbow.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Reset {
		f.storeResetCount++
	}
	for l := range f.listeners {
		l.wakeUp()
	}
}

// changeRange returns the numbers of the first and the last change in the log, or zeros if the store does not number
// its changes.
func (f *ChangeFeed) changeRange(ctx context.Context) (first, last uint64, err error) {
	all, err := f.openMemory(ctx, verb.Read)
	if err != nil {
		return 0, 0, err
	}
	s, err := all.Stats(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) {
		return 0, 0, nil
	}
	return s.First, s.Last, err
}
