// This file defines the errors of stores.

package store

import (
	"errors"
	"fmt"
	"time"
)

// Errors of stores match these errors. Test for them with [errors.Is].
var (
	ErrNotFound       = errors.New("entry not found")
	ErrExists         = errors.New("entry already exists")
	ErrInvalid        = errors.New("invalid")
	ErrConflict       = errors.New("changed since it was read")
	ErrBusy           = errors.New("store is busy")
	ErrCorrupt        = errors.New("store is damaged")
	ErrVersion        = errors.New("store is of an unknown version")
	ErrReadOnly       = errors.New("store is read-only")
	ErrFull           = errors.New("no room for the change")
	ErrVanished       = errors.New("store was removed or replaced while open")
	ErrUnknownOutcome = errors.New("the change may or may not be durable")
	ErrClosed         = errors.New("store is closed")
	ErrUnsupported    = errors.New("this store cannot do that")
	ErrNotStore       = errors.New("not an oxbow store")
	ErrRolledBack     = errors.New("store went back to an earlier state")
	ErrOpIDUsed       = errors.New("op id was used for another change")
	ErrPosition       = errors.New("position is not in the history of the store")
	ErrNetworkFS      = errors.New("store is on a network file system")
	ErrQuota          = errors.New("a bound of the memory is reached")
)

// An InvalidError reports a value that was refused. It matches [ErrInvalid].
type InvalidError struct {
	Field  string // name of the field that was refused, such as "name", "content" or "label tag"
	Value  string // refused value, or its beginning (may be empty)
	Reason string // reason as a predicate, such as "is empty"
}

func (e *InvalidError) Error() string {
	if e.Value == "" {
		return e.Field + " " + e.Reason
	}
	return fmt.Sprintf("%s %q %s", e.Field, e.Value, e.Reason)
}

// Is reports whether target is [ErrInvalid].
func (e *InvalidError) Is(target error) bool { return target == ErrInvalid }

// A QuotaError reports that a change would exceed a limit of the memory. It matches
// [ErrQuota].
type QuotaError struct {
	Bound string        // the quantity that the memory limits: "entries", "bytes" or "changes a second"
	Most  int64         // highest value of the limited quantity that the memory allows
	Wait  time.Duration // time after which the call may succeed if it is repeated (0 if waiting does not help)
}

func (e *QuotaError) Error() string {
	return fmt.Sprintf("this memory may have %d %s and no more; nothing was changed", e.Most, e.Bound)
}

// Is reports whether target is [ErrQuota].
func (e *QuotaError) Is(target error) bool { return target == ErrQuota }

// A NameError is an error with the name of the entry that it is about.
type NameError struct {
	Name string
	Err  error
}

func (e *NameError) Error() string { return fmt.Sprintf("%v: %q", e.Err, e.Name) }
func (e *NameError) Unwrap() error { return e.Err }

// A ConflictError reports that an entry does not have the version that an op requires. It matches [ErrConflict].
type ConflictError struct {
	Name string
	Want uint64 // version that the op requires
	Have uint64 // version of the entry in the store (0 if the entry does not exist)
}

func (e *ConflictError) Error() string {
	if e.Have == 0 {
		return fmt.Sprintf("entry %q, which was read at version %d, is not there any more", e.Name, e.Want)
	}
	return fmt.Sprintf("entry %q changed since it was read: it is at version %d, not %d", e.Name, e.Have, e.Want)
}

// Is reports whether target is [ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// noChangeError is an error about a change that does not exist. It matches [ErrNotFound].
type noChangeError string

// NoChange returns an error about a change that does not exist, with a formatted message.
// The error matches [ErrNotFound].
func NoChange(format string, args ...any) error { return noChangeError(fmt.Sprintf(format, args...)) }

func (e noChangeError) Error() string   { return string(e) }
func (noChangeError) Is(err error) bool { return err == ErrNotFound }

// A CorruptError reports damage in a file and its place. It matches [ErrCorrupt].
type CorruptError struct {
	Path   string
	Offset int64
	Reason string
	Lost   []uint64 // numbers of the changes that are known to be damaged, ascending
}

func (e *CorruptError) Error() string {
	s := fmt.Sprintf("%s is damaged at byte %d: %s", e.Path, e.Offset, e.Reason)
	switch n := len(e.Lost); {
	case n == 1:
		s += fmt.Sprintf(" (change %d)", e.Lost[0])
	case n > 1:
		s += fmt.Sprintf(" (changes %d to %d)", e.Lost[0], e.Lost[n-1])
	}
	return s
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// An AliasError reports that several entries have an alias, or would have it after a change.
//
// If Names contains one name, a change tried to add an alias that the entry with this name has. The error then matches
// [ErrInvalid]. If Names contains two names, a caller asked for an entry by an alias that both entries have. The error
// then matches [ErrNotFound].
type AliasError struct {
	Alias string
	Names []string // name of the entry that has the alias, or two entry names that share it
}

func (e *AliasError) Error() string {
	switch {
	case len(e.Names) > 1:
		return fmt.Sprintf("%q is an alias of %q and of %q", e.Alias, e.Names[0], e.Names[1])
	case e.Names[0] == e.Alias:
		return fmt.Sprintf(
			"alias %q is already the name of another entry; choose another, or change that one first",
			e.Alias,
		)
	}
	return fmt.Sprintf(
		"alias %q is already an alias of %q; choose another, or change that one first",
		e.Alias,
		e.Names[0],
	)
}

// Is reports whether target is the error that e represents. This error is [ErrNotFound] if e.Names contains more than
// one name, and otherwise [ErrInvalid].
func (e *AliasError) Is(target error) bool {
	if len(e.Names) > 1 {
		return target == ErrNotFound
	}
	return target == ErrInvalid
}

// A BusyError reports that another process holds the lock of the store. It matches
// [ErrBusy].
type BusyError struct {
	Path    string
	Waited  time.Duration
	PID     int       // process ID of the process that holds the lock (0 if it is not known)
	Program string    // name of the program that holds the lock ("" if not known)
	Since   time.Time // time when the process that holds the lock acquired it (zero if not known)
	Stopped bool      // The process is suspended, so waiting does not help.
}

func (e *BusyError) Error() string {
	s := fmt.Sprintf("store is busy: waited %s for the lock on %s", e.Waited.Round(time.Millisecond), e.Path)
	if e.PID != 0 {
		s += fmt.Sprintf(", held by %s (pid %d", e.Program, e.PID)
		if !e.Since.IsZero() {
			s += ", since " + e.Since.UTC().Format(time.RFC3339)
		}
		if e.Stopped {
			s += ", which is stopped: resume it or end it"
		}
		s += ")"
	}
	return s
}

// Is reports whether target is [ErrBusy].
func (e *BusyError) Is(target error) bool { return target == ErrBusy }
