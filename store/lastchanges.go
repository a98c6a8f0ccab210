// The last changes of a history, and undoing them.

package store

import (
	"context"
	"fmt"
	"slices"
)

// Undoable returns the last n changes that can be undone, newest first: those that
// neither are an undo nor were undone or redacted. It returns fewer when there are no
// more. Changes in a row of one import count as one, and all of them are returned.
func Undoable(ctx context.Context, h Historian, n int) ([]Change, error) {
	var found []Change
	count := 0
	undone := map[uint64]bool{}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if undone[c.Seq] {
			// A redo: what it undid back then counts again.
			continue
		}
		if len(c.Reverts) > 0 {
			for _, s := range c.Reverts {
				undone[s] = true
			}
			continue
		}
		if len(c.Versions) == 0 || slices.ContainsFunc(c.Versions, func(v Version) bool { return v.Erased }) {
			continue // nothing says what to undo
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

// OneImport reports whether both changes are of one import, which makes as many
// changes as it needs: they have its note and its session.
func (c Change) OneImport(o Change) bool {
	return c.Note != "" && c.Note == o.Note && c.Source.Session != "" &&
		c.Source.Actor == Imported && o.Source.Actor == Imported &&
		c.Source.Session == o.Source.Session && c.Source.Door == o.Source.Door
}

// Undo undoes the last n changes that were not undone yet, in one new change, as
// [Undoable] counts them.
// It returns the number of that change and what it undid, newest first.
// Undoing its own number again brings everything back.
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
