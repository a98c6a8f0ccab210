// How a run fails: which exit status an error is, and how it
// is told to people and programs.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/profile"
)

// The exit statuses.
const (
	exitDone    = 0
	exitFailed  = 1
	exitMisused = 2
	exitTouched = 3 // of why --diff --fail
)

// misuse is a command line that cannot be run.
type misuse struct {
	err  error
	hint string
}

func (e *misuse) Error() string { return e.err.Error() }
func (e *misuse) Unwrap() error { return e.err }

func misusef(hint, format string, args ...any) error {
	return &misuse{fmt.Errorf(format, args...), hint}
}

// isNoMemory reports whether an error says that a memory, or the part of it that a profile
// selects, cannot be used, and not that the command line cannot be run.
func isNoMemory(err error) bool {
	var m *misuse
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	return !errors.As(err, &m) || errors.As(err, &unknown) || errors.As(err, &wrong)
}

// hinted is an error with its own fix in words.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// errReported ends a run that failed and has said all there is to say.
var errReported = errors.New("failed")

// errTouched ends a run that found annotations where there should be none.
var errTouched = fmt.Errorf("lines with annotations were touched: %w", errReported)

// exited is the status of a program that ran instead of this one.
type exited int

func (exited) Error() string { return "the program failed" }
func (exited) Unwrap() error { return errReported }

// status is the one place where errors become exit statuses.
func status(err error) int {
	var m *misuse
	var e exited
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &e):
		return int(e)
	case errors.As(err, &m):
		return exitMisused
	case errors.Is(err, errTouched):
		return exitTouched
	}
	return exitFailed
}

// hint returns the fix in words, or "".
func hint(err error) string {
	var m *misuse
	if errors.As(err, &m) && m.hint != "" {
		return m.hint
	}
	var h *hinted
	if errors.As(err, &h) && h.hint != "" {
		return h.hint
	}
	var unknown *profile.UnknownError
	var wrong profile.Diagnostics
	var there *profile.ExistsError
	var early *verb.BeforeFirstError
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
	return sentence(verb.Remedy(err))
}

// kindOf names the class of an error for programs that read --json.
func kindOf(err error) string {
	var m *misuse
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

// badArgument makes misuse of an error about a value that stood on the command
// line.
func badArgument(err error) error {
	if _, ok := errors.AsType[*misuse](err); ok || !errors.Is(err, oxbow.ErrInvalid) {
		return err
	}
	return &misuse{err: err}
}

// wording says what an error is, and what to do next.
func wording(err error) (message, next string) {
	message, next = lower(err.Error()), hint(err)
	if errors.Is(err, context.Canceled) {
		message = "stopped"
		var own *hinted // such as where an edited text is kept
		if !errors.As(err, &own) {
			next = ""
		}
	}
	return message, next
}

// lower makes a sentence of another's style one of ours: it begins small,
// unless its first word is a name such as "URL", and has no period at its end.
func lower(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), ".")
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		s = strings.ToLower(s[:1]) + s[1:]
	}
	return s
}
