// This file implements remedies, which are advice for errors that a caller can resolve.

package verb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Remedy returns advice about an error of a verb, as a sentence without a period. It returns the
// zero Note if the error needs no advice.
func Remedy(err error) Note {
	var advised *advisedError
	if errors.As(err, &advised) {
		return advised.Remedy
	}
	var lost *lostError
	if errors.As(err, &lost) {
		return lost.remedy()
	}
	var notForgotten *notForgottenError
	if errors.As(err, &notForgotten) {
		return notForgotten.remedy()
	}
	var conflict *oxbow.ConflictError
	if errors.As(err, &conflict) {
		if conflict.Have == 0 {
			return Notef("there is no entry %q now; leave %s out to add it", conflict.Name, ParamRef("if_version"))
		}
		return Notef(
			"get %q, merge your change into what it says now, and call again with %s %d",
			conflict.Name,
			ParamRef("if_version"),
			conflict.Have,
		)
	}
	var busy *oxbow.BusyError
	if errors.As(err, &busy) {
		return busyRemedy(busy)
	}
	var adviser interface{ Advice() string }
	if errors.As(err, &adviser) {
		return Plain(adviser.Advice())
	}
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.note
		}
	}
	if vfs.IsFull(err) {
		return Plain("free some space there, or name another place, and try again")
	}
	return Note{}
}

// busyRemedy returns advice about a writer that holds the lock for too long.
func busyRemedy(e *oxbow.BusyError) Note {
	switch {
	case e.PID == 0:
		return Plain("another process is writing; try again in a moment; oxbow doctor says who it is")
	case e.Stopped:
		return Notef(
			"resume process %d (kill -CONT %d) or end it (kill %d), then try again: the lock is never taken from a "+
				"living process, and is free once it ends",
			e.PID, e.PID, e.PID,
		)
	}
	return Notef(
		"try again in a moment; if process %d hangs, end it (kill %d): its lock is free then, and what it was told "+
			"is durable stays",
		e.PID,
		e.PID,
	)
}

// UnservedError returns the error for a call that needs a part of the workspace that the door does
// not provide.
func UnservedError(why, remedy string) error {
	return Advise(fmt.Errorf("%w: %s", oxbow.ErrUnsupported, why), remedy)
}

var errNoProfiles = UnservedError(
	"no memory profiles are served here",
	"the server said why when it started; one that is bound to a profile serves no other",
)

// remedies are tried in order, so special errors come before general errors.
var remedies = []struct {
	err  error
	note Note
}{
	{
		syscall.EFBIG,
		Plain("a file may not grow so large here: raise the limit (ulimit -f says it), or use another file system"),
	},
	{
		oxbow.ErrUnknownOutcome,
		Notef("get the entry to see whether it was changed; a repeat with the same %s is safe", ParamRef("op_id")),
	},
	{oxbow.ErrOpIDUsed, Plain("give each call an id of its own")},
	{
		oxbow.ErrRolledBack,
		Notef(
			"put the newer file back; or, if an older one was restored on purpose, %s, which goes on from it",
			PersonRef("oxbow recover --accept"),
		),
	},
	{
		oxbow.ErrNetworkFS,
		Plain(
			"put the home on a local disk and set OXBOW_HOME to it; or, when only this host writes there, give " +
				"--network-fs or set OXBOW_NETWORK_FS=1",
		),
	},
	{
		oxbow.ErrConflict,
		Notef(
			"%s shows what came later; give the number of that change as a further %s, or restore one entry",
			VerbRef("history"),
			ParamRef("seq"),
		),
	},
	{oxbow.ErrExists, Plain("leave the entry as it is, or choose another name")},
	{oxbow.ErrBusy, Plain("the memory is busy, usually because another process is writing; try again in a moment")},
	{oxbow.ErrReadOnly, Plain("nothing was changed; oxbow doctor says why it cannot be written")},
	{oxbow.ErrFull, Plain("nothing was changed; free some space and try again; reading and forget still work")},
	{
		oxbow.ErrQuota,
		Plain(
			"wait a second if it is of changes a second; else forget what is not needed, or ask the one who runs " +
				"this server for more",
		),
	},
	{
		oxbow.ErrVanished,
		Plain("nothing was changed; put the file back, or restart this program so that it opens what is there now"),
	},
	{
		oxbow.ErrCorrupt,
		Notef(
			"%s, which says what is damaged, then oxbow recover, which saves the rest; nothing was thrown away",
			PersonRef("oxbow check"),
		),
	},
	{oxbow.ErrVersion, Plain("a newer oxbow wrote this file; update this one")},
	{oxbow.ErrNotStore, Plain("this path holds something else; name another file for the memory")},
	{
		oxbow.ErrUnsupported,
		Plain(
			"if this memory has the layout of another system, oxbow convert DIR copies it into a home that can do this",
		),
	},
	{oxbow.ErrClosed, Plain("the memory was closed; restart this program")},
	{oxbow.ErrNotFound, Notef("%s shows what there is, %s what was changed", VerbRef("list"), VerbRef("history"))},
	{
		fs.ErrPermission,
		Plain("this user may not open or make that file: check its owner and its directory, or name another"),
	},
	{fs.ErrNotExist, Plain("check the path")},
	{syscall.ENOTDIR, Plain("check the path: it, or a part of it, is no directory")},
	{context.DeadlineExceeded, Plain("it took too long; try again, or ask for less")},
	{context.Canceled, Plain("the call was cancelled; whether a change was made, get or history says")},
}
