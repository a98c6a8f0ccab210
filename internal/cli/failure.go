// This file determines how a run fails: its exit status, and how an error is reported to people
// and programs.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/profile"
)

// Exit statuses.
const (
	exitSuccess            = 0
	exitFailed             = 1
	exitUsage              = 2
	exitTouchedAnnotations = 3 // by why --diff --fail
)

// usageError is an error in the command line, which therefore cannot be run.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// isMemoryError reports whether an error means that the memory, or the part of it that a profile
// selects, cannot be used. It returns false if the command line itself is wrong.
func isMemoryError(err error) bool {
	var m *usageError
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	return !errors.As(err, &m) || errors.As(err, &unknown) || errors.As(err, &wrong)
}

// hintedError is an error with a text that says how to fix it.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// errReported ends a run that failed and has already printed the reason.
var errReported = errors.New("failed")

// errTouchedAnnotations ends a run of why --diff --fail that found touched annotations.
var errTouchedAnnotations = fmt.Errorf("lines with annotations were touched: %w", errReported)

// exitStatusError contains the exit status with which a program ended that ran instead of this
// program.
type exitStatusError int

func (exitStatusError) Error() string { return "the program failed" }
func (exitStatusError) Unwrap() error { return errReported }

// exitCode returns the exit status for an error. No other function converts errors to exit
// statuses.
func exitCode(err error) int {
	var m *usageError
	var e exitStatusError
	switch {
	case err == nil:
		return exitSuccess
	case errors.As(err, &e):
		return int(e)
	case errors.As(err, &m):
		return exitUsage
	case errors.Is(err, errTouchedAnnotations):
		return exitTouchedAnnotations
	}
	return exitFailed
}

// errorRemedy returns the text that says how to fix an error, or "".
func errorRemedy(err error) string {
	var m *usageError
	if errors.As(err, &m) && m.hint != "" {
		return m.hint
	}
	var h *hintedError
	if errors.As(err, &h) && h.hint != "" {
		return h.hint
	}
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	var there *profile.ExistsError
	var early *profiles.BeforeFirstError
	switch {
	case errors.As(err, &unknown):
		return "oxbow profile list shows what there is; oxbow profile new NAME makes one"
	case errors.As(err, &wrong):
		return "oxbow profile list shows what there is; oxbow profile lint NAME says what is wrong with one"
	case errors.As(err, &there):
		return "edit that file, or take another name"
	case errors.As(err, &early):
		return "oxbow log shows when it began"
	}
	return formatNote(verb.ErrorRemedy(err))
}

// errorClass returns the class of an error, for programs that read --json.
func errorClass(err error) string {
	var m *usageError
	switch {
	case errors.As(err, &m):
		return "usage"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	for _, k := range []struct {
		err  error
		name string
	}{
		{oxbow.ErrNotFound, "not_found"}, {oxbow.ErrExists, "exists"}, {oxbow.ErrInvalid, "invalid"},
		{oxbow.ErrConflict, "conflict"}, {oxbow.ErrBusy, "busy"}, {oxbow.ErrCorrupt, "damaged"},
		{oxbow.ErrVersion, "version"}, {oxbow.ErrNotStore, "not_store"}, {oxbow.ErrReadOnly, "read_only"},
		{oxbow.ErrFull, "full"}, {oxbow.ErrVanished, "vanished"}, {oxbow.ErrUnknownOutcome, "unknown_outcome"},
		{oxbow.ErrUnsupported, "unsupported"},
		{oxbow.ErrOpIDUsed, "key_reused"}, {oxbow.ErrRolledBack, "rolled_back"}, {oxbow.ErrNetworkFS, "network_fs"},
		{oxbow.ErrQuota, "quota"}, {fs.ErrPermission, "permission"}, {fs.ErrNotExist, "no_file"},
	} {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return "failed"
}

// asUsageError converts an error about an invalid value on the command line to misuse.
func asUsageError(err error) error {
	if _, ok := errors.AsType[*usageError](err); ok || !errors.Is(err, oxbow.ErrInvalid) {
		return err
	}
	return &usageError{err: err}
}

// describeError returns the text of an error and the next step for the person.
func describeError(err error) (message, next string) {
	message, next = text.Uncapitalize(err.Error()), errorRemedy(err)
	if errors.Is(err, context.Canceled) {
		message = "stopped"
		var own *hintedError // such as the path at which an edited text was saved
		if !errors.As(err, &own) {
			next = ""
		}
	}
	return message, next
}
