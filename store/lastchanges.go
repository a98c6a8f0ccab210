// This file finds and undoes the last changes of a store.

package store

import (
	"context"
	"fmt"
	"slices"
)

// Undoable returns the last n changes that can be undone, newest first. If the store has fewer, it returns all. It
// skips changes that are an undo, that were undone, or that contain a redacted version. Consecutive changes by one
// import count as one change, but Undoable returns each change.
func Undoable(ctx context.Context, h Historian, n int) ([]Change, error) {
	var found []Change
	count := 0
	undone := map[uint64]bool{}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if undone[c.Seq] {
			// Skip this change, because a newer change undid it. If it was itself an undo, the changes that it had
			// undone are in effect again and can be undone.
			continue
		}
		if len(c.Reverts) > 0 {
			for _, s := range c.Reverts {
				undone[s] = true
			}
			continue
		}
		if len(c.Versions) == 0 || slices.ContainsFunc(c.Versions, func(v Version) bool { return v.Erased }) {
			continue // A redacted version cannot be restored.
		}
		if len(found) == 0 || !found[len(found)-1].OneImport(c) {
			if count == n {
				break
			}
			count++
		}
		found = append(found, c)
	}
	return found, nil
}

// OneImport reports whether both changes were made by the same import. Such changes have the same note, session and
// door.
func (c Change) OneImport(o Change) bool {
	return c.Note != "" && c.Note == o.Note && c.Source.Session != "" &&
		c.Source.Actor == Imported && o.Source.Actor == Imported &&
		c.Source.Session == o.Source.Session && c.Source.Door == o.Source.Door
}

// Undo reverts the last n changes that [Undoable] returns, in one new change. It returns the number of the new change
// and the reverted changes, newest first. To redo them, revert the new change.
func Undo(ctx context.Context, h Historian, n int) (uint64, []Change, error) {
	if n < 1 {
		return 0, nil, &InvalidError{Field: "number of changes to undo", Value: fmt.Sprint(n), Reason: "is less than 1"}
	}
	cs, err := Undoable(ctx, h, n)
	if err != nil {
		return 0, nil, err
	}
	if len(cs) == 0 {
		return 0, nil, NoChange("there is no change to undo")
	}
	var seqs []uint64
	for _, c := range cs {
		seqs = append(seqs, c.Seq)
	}
	slices.Sort(seqs)
	seq, err := h.Revert(ctx, seqs...)
	return seq, cs, err
}
