// This file reads and changes the history of a store on a server.

package remote

import (
	"context"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Log implements [oxbow.Historian].
func (s *Store) Log(ctx context.Context) iter.Seq2[oxbow.Change, error] {
	last := uint64(0)
	ask := func() (*http.Response, error) {
		last = math.MaxUint64
		return s.link.get(ctx, "log", nil)
	}
	return readAnswerLines(ctx, s, ask, func(r *streamReader) (oxbow.Change, error) {
		c, err := r.readChange(last)
		last = c.Seq
		return c, err
	})
}

// Versions implements [oxbow.Historian].
func (s *Store) Versions(ctx context.Context, name string) iter.Seq2[oxbow.Version, error] {
	last := uint64(0)
	ask := func() (*http.Response, error) {
		last = math.MaxUint64
		if !isEntryName(name) {
			return nil, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
		}
		return s.link.get(ctx, "versions", url.Values{"name": {name}})
	}
	return readAnswerLines(ctx, s, ask, func(r *streamReader) (oxbow.Version, error) {
		v, err := r.readVersion(last)
		last = v.Seq
		return v, err
	})
}

// SeqAt implements [oxbow.Historian].
func (s *Store) SeqAt(ctx context.Context, t time.Time) (uint64, error) {
	var w wireChangeNumber
	err := s.getJSON(ctx, "seqat", url.Values{"time": {text.ClampToJSONTime(t).Format(time.RFC3339Nano)}}, &w)
	return w.Seq, err
}

// AsOf implements [oxbow.Historian]. It returns the memory as it was after change number seq. Each method call on the
// returned store sends a request to the server.
func (s *Store) AsOf(ctx context.Context, seq uint64) (oxbow.Store, error) {
	var w wireChangeNumber
	if err := s.getJSON(ctx, "asof", url.Values{"seq": {fmt.Sprint(seq)}}, &w); err != nil {
		return nil, err
	}
	return &storeAtPastChange{s, seq}, nil
}

// storeAtPastChange is a server's store in the state after the change with the number seq. It is read-only.
type storeAtPastChange struct {
	store *Store
	seq   uint64
}

func (v *storeAtPastChange) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	return v.store.fetchEntry(ctx, name, &v.seq)
}

func (v *storeAtPastChange) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return v.store.streamEntries(ctx, f, &v.seq)
}

func (v *storeAtPastChange) Apply(context.Context, ...oxbow.Op) error {
	return fmt.Errorf("%w: this is how it was, not how it is", oxbow.ErrReadOnly)
}

func (v *storeAtPastChange) Close() error { return nil }

// Watch and Refresh make a storeAtPastChange an [oxbow.Watcher] that never sends an event, because a past state stays
// the same.
func (v *storeAtPastChange) Watch(func(oxbow.Event)) (stop func()) { return func() {} }
func (v *storeAtPastChange) Refresh(context.Context) error         { return nil }

// Revert implements [oxbow.Historian].
func (s *Store) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	stamp, err := s.newChangeMetadata(ctx)
	if err != nil {
		return 0, err
	}
	return s.postHistoryChange(ctx, "revert", wireRevertRequest{stamp, seqs})
}

// Restore implements [oxbow.Historian].
func (s *Store) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	return s.restoreVersion(ctx, wireRestoreRequest{Name: name, Seq: seq})
}

// RestoreIf implements [oxbow.Historian].
func (s *Store) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	return s.restoreVersion(ctx, wireRestoreRequest{Name: name, Seq: seq, ExpectedVersion: &version})
}

func (s *Store) restoreVersion(ctx context.Context, w wireRestoreRequest) (seq uint64, err error) {
	if !isEntryName(w.Name) {
		return 0, &oxbow.NameError{Name: w.Name, Err: oxbow.ErrNotFound}
	}
	w.wireChangeMetadata, err = s.newChangeMetadata(ctx)
	if err != nil {
		return 0, err
	}
	return s.postHistoryChange(ctx, "restore", w)
}

// postHistoryChange sends a request for an undo or a restoration, and returns the number of the change that the server
// made. If the server's answer is lost, the request is not repeated, because the server might refuse the repetition as
// a conflict with the first change.
func (s *Store) postHistoryChange(ctx context.Context, route string, v any) (uint64, error) {
	if err := s.checkReady(ctx); err != nil {
		return 0, err
	}
	body, err := encodeJSON(v)
	if err != nil {
		return 0, err
	}
	res, err := s.link.sendChangeRequest(ctx, route, "", body)
	if err != nil {
		return 0, err
	}
	s.follower.sendOwnChangeEvent(ctx)
	var w wireChangeNumber
	if err := decodeJSON(res, &w); err != nil {
		return 0, &lostAnswerError{err}
	}
	return w.Seq, nil
}
