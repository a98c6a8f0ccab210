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
	var busy *oxbow.BusyError
	if errors.As(err, &busy) {
		return busyHint(busy)
	}
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.text
		}
	}
	return ""
}

// busyHint says how to end the wait for a writer that does not come to an end.
func busyHint(e *oxbow.BusyError) string {
	switch {
	case e.PID == 0:
		return "another process is writing; try again in a moment; oxbow doctor says who it is"
	case e.Stopped:
		return fmt.Sprintf("resume process %d (kill -CONT %d) or end it (kill %d), then try again: the lock is never taken from a living process, and is free once it ends",
			e.PID, e.PID, e.PID)
	}
	return fmt.Sprintf("try again in a moment; if process %d hangs, end it (kill %d): its lock is free then, and what it was told is durable stays", e.PID, e.PID)
}

// hints are tried in order: what is more special stands first.
var hints = []struct {
	err  error
	text string
}{
	{oxbow.ErrUnknownOutcome, "get the entry to see whether it was changed; a repeat with the same op_id is safe"},
	{oxbow.ErrRolledBack, "put the newer file back; or, if an older one was restored on purpose, a person runs oxbow recover --accept, which goes on from it"},
	{oxbow.ErrNetworkFS, "put the home on a local disk and set OXBOW_HOME to it; or, when only this host writes there, give --network-fs or set OXBOW_NETWORK_FS=1"},
	{oxbow.ErrConflict, "history shows what came later; undo that too, or restore one entry"},
	{oxbow.ErrExists, "leave the entry as it is, or choose another name"},
	{oxbow.ErrBusy, "another process is writing; try again in a moment"},
	{oxbow.ErrReadOnly, "nothing was changed; oxbow doctor says why it cannot be written"},
	{oxbow.ErrFull, "nothing was changed; free some space and try again; reading and forget still work"},
	{oxbow.ErrVanished, "nothing was changed; put the file back, or restart this program so that it opens what is there now"},
	{oxbow.ErrCorrupt, "a person runs oxbow check, which says what is damaged, then oxbow recover, which saves the rest; nothing was thrown away"},
	{oxbow.ErrVersion, "a newer oxbow wrote this file; update this one"},
	{oxbow.ErrNotStore, "this path holds something else; name another file for the memory"},
	{oxbow.ErrUnsupported, "oxbow convert moves the memory into a store that can"},
	{oxbow.ErrClosed, "the memory was closed; restart this program"},
	{oxbow.ErrNotFound, "list shows what there is, history what was changed"},
	{fs.ErrPermission, "the file of the memory may not be opened; check its owner and its directory"},
	{context.DeadlineExceeded, "it took too long; try again, or ask for less"},
	{context.Canceled, "the call was cancelled; whether a change was made, get or history says"},
}
