// A server sends an error as a JSON document. This file tests which error the client returns for such a document.

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// sent makes a problem document of the error err and writes it as the answer of a server does. It returns the HTTP
// status and the error that the client makes of the document.
func sent(t *testing.T, err error) (int, error) {
	t.Helper()
	w := httptest.NewRecorder()
	MakeProblem(err).Write(w)
	var p Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("the document %s is not JSON: %v", w.Body, err)
	}
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" || p.Type == "" || p.Title == "" ||
		p.Code == "" || p.Status != w.Code {
		t.Errorf("the document of %v is %+v, as %s", err, p, got)
	}
	return w.Code, p.Err()
}

func TestEveryCode(t *testing.T) {
	for _, c := range problemCodes {
		for _, err := range []error{
			c.err,
			fmt.Errorf("reading it: %w", c.err),
			&oxbow.NameError{Name: "a", Err: c.err},
		} {
			status, got := sent(t, err)
			if !errors.Is(got, c.err) || got.Error() != err.Error() || status != c.status {
				t.Errorf("%v (%d) comes back as %v (%d)", err, c.status, got, status)
			}
			for _, other := range problemCodes {
				if other.err != c.err && errors.Is(got, other.err) {
					t.Errorf("%v comes back as one that matches %v", err, other.err)
				}
			}
		}
	}
}

func TestErrorsKeepTheirFacts(t *testing.T) {
	for _, err := range []error{
		&oxbow.InvalidError{Field: "name", Value: "\x01", Reason: "holds a control character at byte 0"},
		&oxbow.InvalidError{Field: "content", Reason: "is not UTF-8"},
		&oxbow.ConflictError{Name: "a", Want: 1 << 60, Have: 3},
		&oxbow.ConflictError{Name: "a", Want: 2},
		&oxbow.QuotaError{Bound: "entries", Most: 1000},
		&oxbow.QuotaError{Bound: "changes a second", Most: 5, Wait: 2 * time.Second},
		&oxbow.AliasError{Alias: "x", Names: []string{"a", "b"}},
		&oxbow.AliasError{Alias: "x", Names: []string{"a"}},
		&oxbow.NameError{Name: "a", Err: oxbow.ErrExists},
	} {
		if _, got := sent(t, err); !reflect.DeepEqual(got, err) {
			t.Errorf("%#v comes back as %#v", err, got)
		}
		wrapped := fmt.Errorf("change 3: %w", err)
		_, got := sent(t, wrapped)
		same := reflect.New(reflect.TypeOf(err))
		if got.Error() != wrapped.Error() || !errors.As(got, same.Interface()) ||
			!reflect.DeepEqual(same.Elem().Interface(), err) {
			t.Errorf("%v comes back as %v, with %#v", wrapped, got, same.Elem())
		}
	}
}

// TestFilesOfTheServer checks that the answer contains no file names if the server fails, and that the server's log
// does.
func TestFilesOfTheServer(t *testing.T) {
	const file = "/srv/oxbow/memory.oxbow"
	full := fmt.Errorf("%w: %w", oxbow.ErrFull, &fs.PathError{Op: "write", Path: file, Err: syscall.EFBIG})
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{&oxbow.CorruptError{Path: file, Offset: 12, Reason: "bad magic"}, 500, oxbow.ErrCorrupt.Error()},
		{&oxbow.BusyError{Path: file, PID: 7}, 503, oxbow.ErrBusy.Error()},
		{fmt.Errorf("%w: %s", oxbow.ErrVanished, file), 500, oxbow.ErrVanished.Error()},
		{fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, file, fs.ErrPermission), 403, oxbow.ErrReadOnly.Error()},
		{fmt.Errorf("%w: %s", oxbow.ErrPosition, file), 410, oxbow.ErrPosition.Error()},
		{full, 507, oxbow.ErrFull.Error()},
		{fmt.Errorf("%s: %w", file, full), 507, oxbow.ErrFull.Error()},
		{errors.New("reading \"" + file + "\": short"), 500, "the log of the server says why"},
		{errors.New(`at=C:\oxbow\memory.oxbow`), 500, "the log of the server says why"},
		{errors.New("asking http://127.0.0.1:11434 and/or more"), 500, "asking http://127.0.0.1:11434 and/or more"},
	} {
		var log strings.Builder
		p := MakeProblem(c.err)
		p.LogErrorWithFileNames(slog.New(slog.NewTextHandler(&log, nil)))
		status, got := sent(t, c.err)
		if status != c.status || got.Error() != c.says {
			t.Errorf("%v comes back as %q (%d), want %q (%d)", c.err, got, status, c.says, c.status)
		}
		if whole := c.says == c.err.Error(); whole != (log.Len() == 0) ||
			(!whole && !strings.Contains(log.String(), "memory.oxbow")) {
			t.Errorf("the log says of %v: %q", c.err, log.String())
		}
	}
	MakeProblem(full).LogErrorWithFileNames(nil)
}

func TestOtherErrors(t *testing.T) {
	if status, got := sent(t, errors.New("the disk is on fire")); got.Error() != "the disk is on fire" ||
		status != 500 || errors.Is(got, fs.ErrPermission) {
		t.Errorf("an unknown error comes back as %v, %d", got, status)
	}
	if status, got := sent(
		t,
		fmt.Errorf("reading: %w", &http.MaxBytesError{Limit: 4 << 20}),
	); !errors.Is(got, oxbow.ErrInvalid) || status != 413 {
		t.Errorf("a request too large comes back as %v, %d", got, status)
	}
	both := fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, context.Canceled)
	if _, got := sent(t, both); !errors.Is(got, oxbow.ErrUnknownOutcome) || errors.Is(got, context.Canceled) {
		t.Errorf("%v comes back as %v", both, got)
	}
	long := &oxbow.NameError{Name: strings.Repeat("n", 1<<20), Err: oxbow.ErrNotFound}
	if _, got := sent(t, long); !errors.Is(got, oxbow.ErrNotFound) || len(got.Error()) > 2*maxErrorDetailBytes {
		t.Errorf("a name of 1 MB comes back as an error of %d bytes", len(got.Error()))
	}
}

// TestForeignProblem tests that a problem in an answer becomes an error with a text, even if another program sent the
// answer.
func TestForeignProblem(t *testing.T) {
	for _, p := range []Problem{
		{Status: 502},
		{Status: 404, Code: "ambiguous", AmbiguousNames: []string{"a"}},
		{Status: 404, Code: "conflict"},
	} {
		if err := p.Err(); err == nil || err.Error() == "" {
			t.Errorf("%+v is the error %v", p, err)
		}
	}
}
