// This file implements remedies: advice on how a caller can respond to an error.

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

// ErrorRemedy returns advice about an error of a verb, as a sentence without a final period. It returns the zero Note
// for an error without advice.
func ErrorRemedy(err error) Note {
	var advised *errorWithRemedy
	if errors.As(err, &advised) {
		return advised.Remedy
	}
	var lost *unknownNameError
	if errors.As(err, &lost) {
		return lost.remedy()
	}
	var notForgotten *entryNotForgottenError
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
		return remedyForBusyStore(busy)
	}
	var adviser interface{ Advice() string }
	if errors.As(err, &adviser) {
		return PlainNote(adviser.Advice())
	}
	for _, r := range errorRemedies {
		if errors.Is(err, r.err) {
			return r.note
		}
	}
	if vfs.IsFull(err) {
		return PlainNote("free some space there, or name another place, and try again")
	}
	return Note{}
}

// remedyForBusyStore returns advice for the case that another process holds the lock for a long time.
func remedyForBusyStore(e *oxbow.BusyError) Note {
	switch {
	case e.PID == 0:
		return PlainNote("another process is writing; try again in a moment; oxbow doctor says who it is")
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

// NewUnsupportedError returns the error for a call that needs something that this interface does not provide.
func NewUnsupportedError(reason, remedy string) error {
	return Advise(fmt.Errorf("%w: %s", oxbow.ErrUnsupported, reason), remedy)
}

var errNoProfiles = NewUnsupportedError(
	"no memory profiles are served here",
	"the server said why when it started; one that is bound to a profile serves no other",
)

// errorRemedies lists errors with their advice. The first error that matches is used, so special errors come before
// general ones.
var errorRemedies = []struct {
	err  error
	note Note
}{
	{
		syscall.EFBIG,
		PlainNote("a file may not grow so large here: raise the limit (ulimit -f says it), or use another file system"),
	},
	{
		oxbow.ErrUnknownOutcome,
		Notef("get the entry to see whether it was changed; a repeat with the same %s is safe", ParamRef("op_id")),
	},
	{oxbow.ErrOpIDUsed, PlainNote("give each call an id of its own")},
	{
		oxbow.ErrRolledBack,
		Notef(
			"put the newer file back; or, if an older one was restored on purpose, %s, which goes on from it",
			PersonOnlyCommandRef("oxbow recover --accept"),
		),
	},
	{
		oxbow.ErrNetworkFS,
		PlainNote(
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
	{oxbow.ErrExists, PlainNote("leave the entry as it is, or choose another name")},
	{oxbow.ErrBusy, PlainNote("the memory is busy, usually because another process is writing; try again in a moment")},
	{oxbow.ErrReadOnly, PlainNote("nothing was changed; oxbow doctor says why it cannot be written")},
	{oxbow.ErrFull, PlainNote("nothing was changed; free some space and try again; reading and forget still work")},
	{
		oxbow.ErrQuota,
		PlainNote(
			"wait a second if it is of changes a second; else forget what is not needed, or ask the one who runs " +
				"this server for more",
		),
	},
	{
		oxbow.ErrVanished,
		PlainNote("nothing was changed; put the file back, or restart this program so that it opens what is there now"),
	},
	{
		oxbow.ErrCorrupt,
		Notef(
			"%s, which says what is damaged, then oxbow recover, which saves the rest; nothing was thrown away",
			PersonOnlyCommandRef("oxbow check"),
		),
	},
	{oxbow.ErrVersion, PlainNote("a newer oxbow wrote this file; update this one")},
	{oxbow.ErrNotStore, PlainNote("this path holds something else; name another file for the memory")},
	{
		oxbow.ErrUnsupported,
		PlainNote(
			"if this memory has the layout of another system, oxbow convert DIR copies it into a home that can do this",
		),
	},
	{oxbow.ErrClosed, PlainNote("the memory was closed; restart this program")},
	{oxbow.ErrNotFound, Notef("%s shows what there is, %s what was changed", VerbRef("list"), VerbRef("history"))},
	{
		fs.ErrPermission,
		PlainNote("this user may not open or make that file: check its owner and its directory, or name another"),
	},
	{fs.ErrNotExist, PlainNote("check the path")},
	{syscall.ENOTDIR, PlainNote("check the path: it, or a part of it, is no directory")},
	{context.DeadlineExceeded, PlainNote("it took too long; try again, or ask for less")},
	{context.Canceled, PlainNote("the call was cancelled; whether a change was made, get or history says")},
}
