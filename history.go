// This file has the methods of a memory for its history.

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

// History returns the history of the memory's store. If [Options.History] is set, the history is wrapped by this
// function. If the store does not keep a history, the error matches [ErrUnsupported].
func (m *Memory) History() (Historian, error) {
	return HistoryOf(m)
}

// Log yields the changes, newest first.
func (m *Memory) Log(ctx context.Context) iter.Seq2[Change, error] {
	h, err := m.History()
	if err != nil {
		return func(yield func(Change, error) bool) { yield(Change{}, err) }
	}
	return h.Log(ctx)
}

// LogFrom yields the changes whose number is at most seq, newest first. The argument skipCount is the number of changes
// that LogFrom leaves out before it yields the first change. For example, if skipCount is 2, LogFrom leaves out the two
// newest of the changes whose number is at most seq. If the store is a log file, LogFrom does not read the changes
// whose numbers are above seq. If seq is [LastChange], LogFrom begins at the last change.
func (m *Memory) LogFrom(ctx context.Context, seq uint64, skipCount int) iter.Seq2[Change, error] {
	h, err := m.History()
	if err != nil {
		return func(yield func(Change, error) bool) { yield(Change{}, err) }
	}
	return store.LogFrom(ctx, h, seq, skipCount)
}

// Changes returns the changes with these numbers, newest first. Numbers that the history does not
// have are left out.
func (m *Memory) Changes(ctx context.Context, seqs []uint64) ([]Change, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return store.ReadChanges(ctx, h, seqs)
}

// Versions yields the versions of the entry with this name, newest first.
func (m *Memory) Versions(ctx context.Context, name string) iter.Seq2[Version, error] {
	h, err := m.History()
	if err != nil {
		return func(yield func(Version, error) bool) { yield(Version{}, err) }
	}
	return h.Versions(ctx, spellingInHistory(ctx, h, name))
}

// VersionAt returns the version of the entry that was current after change seq. The error matches [ErrNotFound] in
// these cases:
//   - The entry did not exist after change seq.
//   - Change seq has not been made yet.
//   - A compaction has deleted the history for change seq.
func (m *Memory) VersionAt(ctx context.Context, name string, seq uint64) (Version, error) {
	h, err := m.History()
	if err != nil {
		return Version{}, err
	}
	name = spellingInHistory(ctx, h, name)
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
	if oldest.Verb != VerbAdd || oldest.Prev != 0 { // earlier versions may have been dropped by a compaction
		past, err := h.AsOf(ctx, seq)
		if errors.Is(err, ErrNotFound) {
			return Version{}, err
		}
		if err == nil {
			_ = past.Close() // Ignore the error, because nothing was read.
		}
	}
	return Version{}, missing
}

// Revert makes a new change that undoes the changes with these numbers. It returns the
// number of the new change.
func (m *Memory) Revert(ctx context.Context, seqs ...uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.Revert(ctx, seqs...)
}

// Restore makes a new change that brings back an old version of the entry, and returns the number of the new change.
// The old version is the version that change seq wrote.
func (m *Memory) Restore(ctx context.Context, name string, seq uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.Restore(ctx, spellingInHistory(ctx, h, name), seq)
}

// RestoreIf makes a new change that restores an old version of an entry. The parameter seq is the number of the change
// that wrote the old version. The parameter version is the version that the entry must have now. If version is 0, the
// entry must not exist. RestoreIf returns the number of the new change. If the entry has another version now, RestoreIf
// changes nothing, and the error matches [ErrConflict].
func (m *Memory) RestoreIf(ctx context.Context, name string, seq, version uint64) (uint64, error) {
	h, err := m.History()
	if err != nil {
		return 0, err
	}
	return h.RestoreIf(ctx, spellingInHistory(ctx, h, name), seq, version)
}

// Undoable returns the changes that a person can undo next, newest first. It skips a change that is an undo, that was
// undone, or that contains a redacted version.
//
// The argument limit is the maximum number of undo steps in the result. Most changes are one undo step each.
// Consecutive changes by the same import are one step together, and so are the parts of one call (see [CommitInParts]).
// The result contains every change of a step, so it may be longer than limit. If the history has fewer steps, Undoable
// returns all of them.
func (m *Memory) Undoable(ctx context.Context, limit int) ([]Change, error) {
	h, err := m.History()
	if err != nil {
		return nil, err
	}
	return store.Undoable(ctx, h, limit)
}

// Undo reverts the newest changes in the list that [Memory.Undoable] returns. The argument changeCount is the number of
// changes to revert. Undo writes a new change for this, and returns the number of the new change and the reverted
// changes, newest first. To redo the reverted changes, revert the new change. If the changes are large, Undo writes
// several new changes and returns the number of the last new change (see [RevertInParts]).
func (m *Memory) Undo(ctx context.Context, changeCount int) (uint64, []Change, error) {
	h, err := m.History()
	if err != nil {
		return 0, nil, err
	}
	return store.Undo(ctx, h, changeCount)
}

// spellingInHistory returns the spelling of name under which the history h contains versions. It tries the spellings
// that [store.NameForms] returns, which differ only in their Unicode normal form. It also returns a spelling if reading
// its versions fails with an error other than ErrNotFound, so that the caller encounters this error. If h contains
// versions under none of the spellings, spellingInHistory returns name unchanged.
func spellingInHistory(ctx context.Context, h Historian, name string) string {
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

// CheckRevert returns an error if Revert would refuse these changes, because a later change
// modified an entry. Such an error is a [ConflictError].
func (m *Memory) CheckRevert(ctx context.Context, cs ...Change) error {
	return store.CheckRevert(ctx, m, cs...)
}
