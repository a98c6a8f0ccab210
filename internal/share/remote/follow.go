// This file sends the changes on the server to the client's watchers.

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
	return readAnswerLines(
		ctx,
		s,
		func() (*http.Response, error) { return s.requestChangesSince(ctx, p) },
		(*streamReader).readDelta,
	)
}

func (s *Store) requestChangesSince(ctx context.Context, p oxbow.Position) (*http.Response, error) {
	return s.link.get(ctx, "since", url.Values{"position": {base64.RawURLEncoding.EncodeToString([]byte(p))}})
}

// Watch implements [oxbow.Watcher]. The first call asks the server for its current position in the sequence of changes,
// so that the store can later request the changes after this position.
func (s *Store) Watch(fn func(oxbow.Event)) (stop func()) { return s.follower.addWatcher(fn) }

// Refresh implements [oxbow.Watcher].
func (s *Store) Refresh(ctx context.Context) error {
	if err := s.checkReady(ctx); err != nil {
		return err
	}
	return s.follower.sendServerChangesEvent(ctx)
}

// Limits for the changes in one event. If there are more, the event is a reset, after which a watcher must read all
// entries.
const (
	maxReadDeltas     = 100_000
	maxReadDeltaBytes = 64 << 20
)

// detachedRequestTimeout is the timeout for a request that is not cancelled together with a caller's context.
const detachedRequestTimeout = 10 * time.Second

// serverFollower sends events to the watchers of a store. It remembers the position up to which events were sent.
type serverFollower struct {
	store    *Store
	watchers subscribers.List[oxbow.Event]

	// positionLock is a mutex for which a goroutine can stop waiting when a context is done. A goroutine locks the
	// mutex by receiving a value, and unlocks it by sending a value. It guards the fields below.
	positionLock chan struct{}
	hasPosition  bool // the field position contains a position that the server accepts
	position     oxbow.Position
}

// knownPosition returns the position up to which events were sent. It returns nil if there are no watchers, if the
// position is unknown, or if another goroutine has locked the position.
func (f *serverFollower) knownPosition() *wirePosition {
	if f.watchers.Len() == 0 {
		return nil
	}
	select {
	case <-f.positionLock:
		defer func() { f.positionLock <- struct{}{} }()
	default:
		return nil
	}
	if !f.hasPosition {
		return nil
	}
	return &wirePosition{[]byte(f.position)}
}

// addWatcher makes the follower call fn for each event from now on, until the caller calls stop. For the first watcher,
// it asks the server for its current position. If the server does not answer, the next event has Reset set, so that fn
// reads all entries again.
func (f *serverFollower) addWatcher(fn func(oxbow.Event)) (stop func()) {
	<-f.positionLock
	defer func() { f.positionLock <- struct{}{} }()
	if f.watchers.Len() == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), detachedRequestTimeout)
		defer cancel()
		p, err := f.store.Position(ctx)
		f.position, f.hasPosition = p, err == nil
	}
	return f.watchers.Add(fn)
}

// sendServerChangesEvent asks the server for the changes since the last event, and sends an event with these changes to
// the watchers. If the position of the last event is unknown or no longer valid, it sends an event with Reset set, so
// that the watchers read all entries again. If the request fails, it sends no event and returns the error. The next
// call then sends all changes since the last event. sendServerChangesEvent only acts if there are watchers.
func (f *serverFollower) sendServerChangesEvent(ctx context.Context) error {
	if f.watchers.Len() == 0 {
		return nil
	}
	select {
	case <-f.positionLock:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { f.positionLock <- struct{}{} }()
	if f.hasPosition {
		res, err := f.store.requestChangesSince(ctx, f.position)
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

// readChangeAnswer reads the server's answer to a request that made a change. It returns the change, which is empty if
// the server did not return it. The change has no versions if they could not be read.
//
// readChangeAnswer also sends the server's new changes as an event to the functions that watch the store. If
// sincePosition is not nil, the answer contains all changes since sincePosition.Position. These changes are sent if
// they can be read and f.position is still equal to sincePosition.Position. If another event was sent in the meantime,
// f.position differs, and the changes in the answer do not fit.
//
// In all other cases, readChangeAnswer asks the server for the changes since f.position and sends these changes.
func (f *serverFollower) readChangeAnswer(
	ctx context.Context,
	res *http.Response,
	sincePosition *wirePosition,
) (change oxbow.Change) {
	r := newStreamReader(res.Body)
	var err error
	if res.Header.Get(preferenceAppliedHeaderName) == preferReturnChange {
		change, err = r.readChange(math.MaxUint64)
		if err != nil {
			// Return the change without its versions, because some versions may be missing.
			change = oxbow.Change{Seq: change.Seq}
		}
	}
	if sincePosition == nil || err != nil {
		closeAnswerBody(res)
		f.sendOwnChangeEvent(ctx)
		return change
	}
	changes, next, err := readDeltas(res, r)
	<-f.positionLock
	fits := err == nil && f.hasPosition && f.position == oxbow.Position(sincePosition.Position)
	if fits {
		f.position = next
		f.sendEvent(oxbow.Event{Changes: changes})
	}
	f.positionLock <- struct{}{}
	if !fits {
		f.sendOwnChangeEvent(ctx)
	}
	return change
}

// sendOwnChangeEvent sends an event to the watchers about a change that this client has made, even if ctx is done. If
// the changes cannot be read from the server, it sends an event with Reset set, so that the watchers read all entries
// again.
func (f *serverFollower) sendOwnChangeEvent(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedRequestTimeout)
	defer cancel()
	if err := f.sendServerChangesEvent(ctx); err != nil {
		<-f.positionLock
		defer func() { f.positionLock <- struct{}{} }()
		f.sendEvent(oxbow.Event{Reset: true})
	}
}

func (f *serverFollower) sendEvent(e oxbow.Event) {
	if e.Reset || len(e.Changes) > 0 {
		f.watchers.Send(e)
	}
}

// readDeltas reads the remaining lines of the server's answer to a request for changes, and closes the answer. Each
// line contains a change. next is the position after these changes. If there are more changes than maxReadDeltas or
// maxReadDeltaBytes allow, the error matches [oxbow.ErrPosition].
func readDeltas(res *http.Response, r *streamReader) (changes []oxbow.Delta, next oxbow.Position, err error) {
	defer res.Body.Close()
	for size := 0; ; {
		d, err := r.readDelta()
		if r.endLine != nil {
			closeAnswerBody(res)
			return changes, oxbow.Position(r.endLine.Position), nil
		}
		if err != nil {
			return nil, "", err
		}
		if d.Entry != nil {
			size += len(d.Entry.Content)
		}
		changes = append(changes, d)
		if len(changes) > maxReadDeltas || size > maxReadDeltaBytes {
			return nil, "", fmt.Errorf("%w: too much has changed", oxbow.ErrPosition)
		}
	}
}
