// The history of a memory.

package oxbow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// History returns the history of the memory's store, as [Options.History] has it, or an
// error matching [ErrUnsupported].
func (m *Memory) History() (Historian, error) {
	h, err := HistoryOf(m.store)
	if err == nil && m.opts.History != nil {
		h = m.opts.History(h)
	}
	return h, err
}

// Log yields the changes, newest first.
func (m *Memory) Log(ctx context.Context) iter.Seq2[Change, error] {
	h, err := m.History()
	if err != nil {
		return func(yield func(Change, error) bool) { yield(Change{}, err) }
	}
	return h.Log(ctx)
}

// Versions yields the versions of the entry of that name, newest first.
func (m *Memory) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	h, err := m.History()
	if err != nil {
		return func(yield func(Version, error) bool) { yield(Version{}, err) }
	}
	return h.Versions(ctx, versionsName(ctx, h, name))
}

// VersionAt returns the version of the entry that was current after change
// seq. An entry that was not there then is [ErrNotFound], and so is a change that
// was not made yet, or was dropped by a compaction.
func (m *Memory) VersionAt(ctx context.Context, name string, seq uint64) (Version, error) {
	h, err := m.History()
	if err != nil {
		return Version{}, err
	}
	name = versionsName(ctx, h, name)
	missing := fmt.Errorf("%w as of change %d", &NameError{Name: name, Err: ErrNotFound}, seq)
	var oldest Version
	for v, err := range h.Versions(ctx, name) {
		if err != nil {
			return Version{}, err
		}
		oldest = v
		if v.Seq > seq {
			continue
		}
		if v.Seq < seq {
			if last, err := h.SeqAt(ctx, time.Unix(0, math.MaxInt64)); err != nil || seq > last {
				return Version{}, cmp.Or(err, store.NoChange("there is no change %d yet; the last is %d", seq, last))
			}
		}
		if v.Verb == VerbRemove {
			return Version{}, missing
		}
		return v, nil
	}
	if oldest.Verb != VerbAdd || oldest.Prev != 0 { // there may have been others, which were dropped
		if _, err := h.AsOf(ctx, seq); errors.Is(err, ErrNotFound) {
			return Version{}, err
		}
	}
	return Version{}, missing
}

// AsOf returns a read-only view of the store as it stood after change seq.
func (m *Memory) AsOf(ctx context.Context, seq uint64) (Store, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return h.AsOf(ctx, seq)
}

// Revert undoes the changes of those numbers, all in one new change, and
// returns its number.
func (m *Memory) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.Revert(ctx, seqs...)
}

// Restore makes the version of the entry that change seq left the current one,
// and returns the number of the new change.
func (m *Memory) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.Restore(ctx, versionsName(ctx, h, name), seq)
}

// RestoreIf is Restore, if the entry is at that version; see [Historian].
func (m *Memory) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.RestoreIf(ctx, versionsName(ctx, h, name), seq, version)
}

// Undoable returns the last n changes that can be undone, newest first: those that
// neither are an undo nor were undone or redacted. It returns fewer when there are no
// more. Changes in a row of one import count as one, and all of them are returned.
func (m *Memory) Undoable(ctx context.Context, n int) ([]Change, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return store.Undoable(ctx, h, n)
}

// Undo undoes the last n changes that were not undone yet, in one new change, as
// [Memory.Undoable] counts them.
// It returns the number of that change and what it undid, newest first.
// Undoing its own number again brings everything back.
func (m *Memory) Undo(ctx context.Context, n int) (uint64, []Change, error) {
	h, err := m.History()
	if err != nil {
		return 0, nil, err
	}
	return store.Undo(ctx, h, n)
}

// versionsName returns the spelling of a name that the history has, or the name itself.
func versionsName(ctx context.Context, h Historian, name string) string {
	for _, form := range store.NameForms(name) {
		for _, err := range h.Versions(ctx, form) {
			if err == nil || !errors.Is(err, ErrNotFound) {
				return form
			}
			break
		}
	}
	return name
}
