// This file implements the client's events: the changes on the server since the last position.

package remote

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
)

// Position implements [oxbow.Sequencer].
func (s *Store) Position(ctx context.Context) (oxbow.Position, error) {
	var w wirePosition
	err := s.getJSON(ctx, "position", nil, &w)
	return oxbow.Position(w.Position), err
}

// Since implements [oxbow.Sequencer].
func (s *Store) Since(ctx context.Context, p oxbow.Position) iter.Seq2[oxbow.Delta, error] {
	return streamLines(
		ctx,
		s,
		func() (*http.Response, error) { return s.requestSince(ctx, p) },
		(*streamReader).readDelta,
	)
}

func (s *Store) requestSince(ctx context.Context, p oxbow.Position) (*http.Response, error) {
	return s.link.get(ctx, "since", url.Values{"position": {base64.RawURLEncoding.EncodeToString([]byte(p))}})
}

// Watch implements [oxbow.Watcher]. The first call requests the server's position.
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) { return s.follower.addWatcher(fn) }

// Refresh implements [oxbow.Watcher].
func (s *Store) Refresh(ctx context.Context) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	return s.follower.sendChanges(ctx)
}

// Limits for the changes that are collected for an event. If there are more, the event is a reset.
const (
	maxDeltas     = 100_000
	maxDeltaBytes = 64 << 20
)

// followTimeout is the timeout of requests that Watch and Apply send without the caller's context.
const followTimeout = 10 * time.Second

// follower sends events to the watchers. It stores the position up to which events were sent.
type follower struct {
	store    *Store
	watchers subscribers.List[oxbow.Event]

	// lock is a mutex that also supports contexts: a goroutine can stop waiting when a context is
	// done. Receiving from lock gives the right to use the fields below. Afterwards the receiver
	// must send to lock.
	lock        chan struct{}
	hasPosition bool // position is a valid position of the server
	position    oxbow.Position
}

// knownPosition returns the position up to which events were sent. It returns nil if the store has
// no watchers, or if the position is unknown.
func (f *follower) knownPosition() *wirePosition {
	if f.watchers.Len() == 0 {
		return nil
	}
	select {
	case <-f.lock:
		defer func() { f.lock <- struct{}{} }()
	default:
		return nil
	}
	if !f.hasPosition {
		return nil
	}
	return &wirePosition{[]byte(f.position)}
}

// addWatcher adds a watcher. If the server's position cannot be requested now, the first event is a
// reset.
func (f *follower) addWatcher(fn func(oxbow.Event)) (stop func()) {
	<-f.lock
	defer func() { f.lock <- struct{}{} }()
	if f.watchers.Len() == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), followTimeout)
		defer cancel()
		p, err := f.store.Position(ctx)
		f.position, f.hasPosition = p, err == nil
	}
	return f.watchers.Add(fn)
}

// sendChanges requests the changes and sends them as an event. If it fails, no event is sent, and the
// next call sends the changes.
func (f *follower) sendChanges(ctx context.Context) error {
	if f.watchers.Len() == 0 {
		return nil
	}
	select {
	case <-f.lock:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { f.lock <- struct{}{} }()
	if f.hasPosition {
		res, err := f.store.requestSince(ctx, f.position)
		var changes []oxbow.Delta
		var next oxbow.Position
		if err == nil {
			changes, next, err = readDeltas(res, newStreamReader(res.Body))
		}
		if err == nil {
			f.position = next
			f.sendEvent(oxbow.Event{Changes: changes})
			return nil
		}
		if !errors.Is(err, oxbow.ErrPosition) {
			return err
		}
	}
	p, err := f.store.Position(ctx)
	if err != nil && !errors.Is(err, oxbow.ErrUnsupported) {
		return err
	}
	f.position, f.hasPosition = p, err == nil
	f.sendEvent(oxbow.Event{Reset: true})
	return nil
}

// readChangeAnswer reads the server's answer to a change. It sends the change's events, and returns the
// change, or an empty change if the server did not report the change. If from is not nil, the
// answer contains all changes after that position. If other events were sent in the meantime,
// readChangeAnswer requests these changes instead.
func (f *follower) readChangeAnswer(
	ctx context.Context,
	res *http.Response,
	from *wirePosition,
) (change oxbow.Change) {
	r := newStreamReader(res.Body)
	var err error
	if res.Header.Get(appliedHeader) == returnChange {
		change, err = r.readChange(math.MaxUint64)
		if err != nil {
			change = oxbow.Change{Seq: change.Seq} // leave out the versions, because some may be missing
		}
	}
	if from == nil || err != nil {
		closeAnswer(res)
		f.sendOwnChange(ctx)
		return change
	}
	changes, next, err := readDeltas(res, r)
	<-f.lock
	fits := err == nil && f.hasPosition && f.position == oxbow.Position(from.Position)
	if fits {
		f.position = next
		f.sendEvent(oxbow.Event{Changes: changes})
	}
	f.lock <- struct{}{}
	if !fits {
		f.sendOwnChange(ctx)
	}
	return change
}

// sendOwnChange sends the events of a change that was made, even if the context is done.
func (f *follower) sendOwnChange(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), followTimeout)
	defer cancel()
	if err := f.sendChanges(ctx); err != nil {
		<-f.lock
		defer func() { f.lock <- struct{}{} }()
		f.sendEvent(oxbow.Event{Reset: true})
	}
}

func (f *follower) sendEvent(e oxbow.Event) {
	if e.Reset || len(e.Changes) > 0 {
		f.watchers.Send(e)
	}
}

// readDeltas reads the changes in the rest of an answer. next is the position after these changes.
func readDeltas(res *http.Response, r *streamReader) (changes []oxbow.Delta, next oxbow.Position, err error) {
	defer res.Body.Close()
	for size := 0; ; {
		d, err := r.readDelta()
		if r.end != nil {
			closeAnswer(res)
			return changes, oxbow.Position(r.end.Position), nil
		}
		if err != nil {
			return nil, "", err
		}
		if d.Entry != nil {
			size += len(d.Entry.Content)
		}
		changes = append(changes, d)
		if len(changes) > maxDeltas || size > maxDeltaBytes {
			return nil, "", fmt.Errorf("%w: too much has changed", oxbow.ErrPosition)
		}
	}
}
