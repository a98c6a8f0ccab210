// This file determines the exit status of a run that failed, and how its error is reported to people and programs.

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

// These are the exit statuses of oxbow.
const (
	exitSuccess                = 0
	exitCommandFailed          = 1
	exitUsageError             = 2
	exitDiffTouchesAnnotations = 3 // exit status of "oxbow why --diff --fail" if the diff touches annotated lines
)

// usageError is an error in the command line. The command was not run.
type usageError struct {
	err    error
	remedy string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usageErrorf(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// isNotUsageError reports whether an error is not a mistake in the command line. Examples are a memory that cannot be
// used, an unknown profile, and an invalid profile.
func isNotUsageError(err error) bool {
	var m *usageError
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	return !errors.As(err, &m) || errors.As(err, &unknown) || errors.As(err, &wrong)
}

// hintedError is an error with a hint that says how to fix it.
type hintedError struct {
	err    error
	remedy string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// errAlreadyPrinted is the error of a run that has already printed the reason for its failure.
var errAlreadyPrinted = errors.New("failed")

// errTouchedAnnotations is returned by "oxbow why --diff --fail" if the diff touches annotated lines.
var errTouchedAnnotations = fmt.Errorf("lines with annotations were touched: %w", errAlreadyPrinted)

// exitStatusError is another program's exit status. That program ran in place of this program.
type exitStatusError int

func (exitStatusError) Error() string { return "the program failed" }
func (exitStatusError) Unwrap() error { return errAlreadyPrinted }

// exitCode returns the exit status for an error. It is the only function that converts errors to exit statuses.
func exitCode(err error) int {
	var m *usageError
	var e exitStatusError
	switch {
	case err == nil:
		return exitSuccess
	case errors.As(err, &e):
		return int(e)
	case errors.As(err, &m):
		return exitUsageError
	case errors.Is(err, errTouchedAnnotations):
		return exitDiffTouchesAnnotations
	}
	return exitCommandFailed
}

// errorRemedy returns the text that says how to fix an error, or "" if no way is known.
func errorRemedy(err error) string {
	var m *usageError
	if errors.As(err, &m) && m.remedy != "" {
		return m.remedy
	}
	var h *hintedError
	if errors.As(err, &h) && h.remedy != "" {
		return h.remedy
	}
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	var there *profile.ExistsError
	var early *profiles.BeforeFirstChangeError
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

// errorClassName returns a short name for the kind of an error, such as "not_found". Programs that call oxbow with the
// flag --json use this name to find out why a command failed. Errors without a name of their own have the name
// "failed".
func errorClassName(err error) string {
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

// asUsageError converts an error about an invalid value in the command line to a [usageError], which means that the
// person used the command wrongly. It returns any other error unchanged.
func asUsageError(err error) error {
	if _, ok := errors.AsType[*usageError](err); ok || !errors.Is(err, oxbow.ErrInvalid) {
		return err
	}
	return &usageError{err: err}
}

// describeError returns an error's text, and the next step that the person should take ("" if no step is known).
func describeError(err error) (message, nextStep string) {
	message, nextStep = text.Uncapitalize(err.Error()), errorRemedy(err)
	if errors.Is(err, context.Canceled) {
		message = "stopped"
		// Keep the next step only if the error itself names one, such as the path at which an edited text was saved.
		var own *hintedError
		if !errors.As(err, &own) {
			nextStep = ""
		}
	}
	return message, nextStep
}
