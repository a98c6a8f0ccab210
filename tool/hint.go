// This file holds the fix, in words, for each error that a caller can do
// something about.

package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow"
)

// Hint returns what to do about an error of a verb, one sentence without a
// period, or "" when the error itself says it. It is for every door.
func Hint(err error) string {
	var lost *lostError
	if errors.As(err, &lost) {
		return lost.hint()
	}
	var conflict *oxbow.ConflictError
	if errors.As(err, &conflict) {
		if conflict.Have == 0 {
			return fmt.Sprintf("there is no entry %q now; leave if_version out to add it", conflict.Name)
		}
		return fmt.Sprintf("get %q, merge your change into what it says now, and call again with if_version %d", conflict.Name, conflict.Have)
	}
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.text
		}
	}
	return ""
}

// hints are tried in order: what is more special stands first.
var hints = []struct {
	err  error
	text string
}{
	{oxbow.ErrUnknownOutcome, "get the entry to see whether it was changed; a repeat with the same op_id is safe"},
	{oxbow.ErrConflict, "history shows what came later; undo that too, or restore one entry"},
	{oxbow.ErrExists, "leave the entry as it is, or choose another name"},
	{oxbow.ErrBusy, "another process is writing; try again in a moment"},
	{oxbow.ErrReadOnly, "nothing was changed; open the memory for writing, or ask a person to"},
	{oxbow.ErrFull, "nothing was changed; free some space and try again"},
	{oxbow.ErrVanished, "restart this program, so that it opens the file that is there now"},
	{oxbow.ErrCorrupt, "ask a person to run oxbow check, which says what is damaged and how to mend it; nothing was thrown away"},
	{oxbow.ErrVersion, "a newer oxbow wrote this file; update this one"},
	{oxbow.ErrNotStore, "this path holds something else; name another file for the memory"},
	{oxbow.ErrUnsupported, "oxbow convert moves the memory into a store that can"},
	{oxbow.ErrClosed, "the memory was closed; restart this program"},
	{oxbow.ErrNotFound, "list shows what there is, history what was changed"},
	{fs.ErrPermission, "the file of the memory may not be opened; check its owner and its directory"},
	{context.DeadlineExceeded, "it took too long; try again, or ask for less"},
	{context.Canceled, "the call was cancelled; whether a change was made, get or history says"},
}
