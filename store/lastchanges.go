// This file finds and undoes the last changes of a store.

package store

import (
	"context"
	"fmt"
	"slices"
)

// Undoable returns the last changes that can be undone, newest first. It skips changes that are an undo, that were
// undone, or that contain a redacted version.
//
// The argument maxCalls limits the number of results, but changes that belong together count only once. Consecutive
// changes by one import belong together. The parts of a call (see [CommitInParts]) also belong together, even if other
// writers made changes between the parts. The result contains every change of such a group.
func Undoable(ctx context.Context, h Historian, maxCalls int) ([]Change, error) {
	w := undoWalk{undoneSeqs: map[uint64]bool{}}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if !w.mayUndo(&c) {
			continue
		}
		if w.addToFoundCall(c) {
			continue
		}
		if w.callCount < maxCalls {
			w.addNewCall(c)
		} else if len(w.openCalls) == 0 {
			break
		}
	}
	return w.found, nil
}

// undoWalk collects changes to undo while the log is read from its end.
type undoWalk struct {
	found      []Change
	callCount  int             // number of calls in found
	openCalls  []Change        // for each call whose first part is not yet found: its earliest part in found
	undoneSeqs map[uint64]bool // numbers of the changes that were undone
}

// mayUndo reports whether the change c, which is the next change of the log, can be undone. It also records in
// w.undoneSeqs which changes c has undone.
func (w *undoWalk) mayUndo(c *Change) bool {
	if w.undoneSeqs[c.Seq] {
		// If this change is an undo, it was undone itself. The changes that it had reverted are in effect again, so
		// they can be undone.
		return false
	}
	for _, s := range c.Reverts {
		w.undoneSeqs[s] = true
	}
	if len(c.Reverts) > 0 || len(c.Versions) == 0 {
		return false
	}
	// A redacted version cannot be restored.
	return !slices.ContainsFunc(c.Versions, func(v Version) bool { return v.Erased })
}

// addToFoundCall adds the change c to w.found if the same call to oxbow made c and a change in w.found. It returns
// false if no change in w.found was made by the same call. A call makes several changes if it is an import, or if its
// operations are divided into parts (see CommitInParts).
func (w *undoWalk) addToFoundCall(c Change) bool {
	i := slices.IndexFunc(w.openCalls, func(later Change) bool { return later.Follows(c) })
	if i >= 0 {
		w.found = append(w.found, c)
		w.openCalls[i] = c
		if _, part, _ := SplitPartNote(c.Note); part == 1 {
			w.openCalls = slices.Delete(w.openCalls, i, i+1)
		}
		return true
	}
	n := len(w.found)
	if n == 0 || !w.found[n-1].Follows(c) {
		return false
	}
	w.found = append(w.found, c)
	return true
}

// addNewCall adds the change c to w.found. The changes are found from newest to oldest, so c is the last change of its
// call, and the call's earlier changes are found later. If c is not the call's first part, addNewCall also adds c to
// w.openCalls, so that the earlier parts are recognized.
func (w *undoWalk) addNewCall(c Change) {
	w.found = append(w.found, c)
	w.callCount++
	if _, part, _ := SplitPartNote(c.Note); part > 1 {
		w.openCalls = append(w.openCalls, c)
	}
}

// Undo reverts the last changeCount changes that [Undoable] returns. It makes a new change, and returns the number of
// this change. It also returns the reverted changes, newest first. To restore the reverted changes, revert the new
// change. If the reverted changes are large, Undo makes several new changes (see [RevertInParts]), and returns the
// number of the last new change. If changeCount is less than 1, the error is an [InvalidError].
func Undo(ctx context.Context, h Historian, changeCount int) (uint64, []Change, error) {
	if changeCount < 1 {
		return 0, nil, &InvalidError{
			Field:  "number of changes to undo",
			Value:  fmt.Sprint(changeCount),
			Reason: "is less than 1",
		}
	}
	cs, err := Undoable(ctx, h, changeCount)
	if err != nil {
		return 0, nil, err
	}
	if len(cs) == 0 {
		return 0, nil, NoChange("there is no change to undo")
	}
	seqs, err := RevertInParts(ctx, h, cs, 0)
	if len(seqs) == 0 {
		return 0, cs, err
	}
	return seqs[len(seqs)-1], cs, err
}
