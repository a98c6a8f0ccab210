// This file converts errors of a store to problem documents (RFC 9457), and problem documents to errors.

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Problem is the application/problem+json document of an error. Programs should look at Code. The fields below Code
// belong to the error types of package oxbow.
type Problem struct {
	Type   string `json:"type"`   // always "about:blank"
	Title  string `json:"title"`  // title that all problems with the same code have
	Status int    `json:"status"` // HTTP status
	Detail string `json:"detail"` // description of the error: a sentence without a final period
	Code   string `json:"code"`
	Remedy string `json:"remedy,omitempty"` // advice about what to do next, or ""

	Field        string `json:"field,omitempty"` // set only if Code is "invalid": the field that is refused
	InvalidValue string `json:"value,omitempty"`
	Reason       string `json:"reason,omitempty"`

	EntryName      string   `json:"name,omitempty"`  // name of the entry to which the error belongs
	AmbiguousNames []string `json:"names,omitempty"` // set only if Code is "ambiguous": two entries with the same alias
	Alias          string   `json:"alias,omitempty"` // set only if Code is "ambiguous" or "alias_taken": the alias
	AliasOwner     string   `json:"owner,omitempty"` // set only if Code is "alias_taken": the entry that has the alias
	// set only if Code is "conflict": the version that the caller expected
	ExpectedVersion uint64 `json:"want,omitempty"`
	// set only if Code is "conflict": the present version (0 if the entry does not exist)
	PresentVersion uint64 `json:"have,omitempty"`
	// The limit that was exceeded. If Code is "too_large", the unit is bytes. If Code is "quota", the unit is the unit
	// of the quota.
	Limit     int64  `json:"limit,omitempty"`
	LimitName string `json:"bound,omitempty"` // set only if Code is "quota": the name of the limit
	// set only if Code is "quota": the number of seconds after which another attempt may succeed
	RetrySeconds int `json:"retry,omitempty"`

	// The complete error, which the server logs. It is set only if Detail lacks the server's file names, which clients
	// must not see.
	CompleteError error `json:"-"`
}

// problemCodes lists the codes of errors. The first code that matches is used, so more specific errors come first. All
// other errors have the code "internal".
var problemCodes = []struct {
	code   string
	status int
	title  string
	// The server sends the code for errors that match err. A client converts the code to an error that matches err.
	err error
}{
	{
		"unknown_outcome",
		http.StatusInternalServerError,
		"It is unknown whether the change was made",
		oxbow.ErrUnknownOutcome,
	},
	{"conflict", http.StatusConflict, "The entry changed since it was read", oxbow.ErrConflict},
	{"key_reused", http.StatusUnprocessableEntity, "The key is of another request", oxbow.ErrOpIDUsed},
	{"exists", http.StatusConflict, "There is such an entry already", oxbow.ErrExists},
	{"not_found", http.StatusNotFound, "There is no such entry", oxbow.ErrNotFound},
	{"read_only", http.StatusForbidden, "Only reading is allowed", oxbow.ErrReadOnly},
	{"unsupported", http.StatusNotImplemented, "This memory cannot do that", oxbow.ErrUnsupported},
	{"position", http.StatusGone, "The position is not in the history", oxbow.ErrPosition},
	{"busy", http.StatusServiceUnavailable, "The memory is busy", oxbow.ErrBusy},
	{"full", http.StatusInsufficientStorage, "No space is left", oxbow.ErrFull},
	{"quota", http.StatusTooManyRequests, "A bound of the memory is reached", oxbow.ErrQuota},
	{"closed", http.StatusServiceUnavailable, "The memory is closed", oxbow.ErrClosed},
	{"vanished", http.StatusInternalServerError, "The file of the memory is gone", oxbow.ErrVanished},
	{"rolled_back", http.StatusInternalServerError, "The memory went back to an earlier state", oxbow.ErrRolledBack},
	{"network_fs", http.StatusInternalServerError, "The memory is on a network file system", oxbow.ErrNetworkFS},
	{"corrupt", http.StatusInternalServerError, "The memory is damaged", oxbow.ErrCorrupt},
	{"version", http.StatusInternalServerError, "The memory is of an unknown version", oxbow.ErrVersion},
	{"not_store", http.StatusInternalServerError, "This is no memory", oxbow.ErrNotStore},
	{"invalid", http.StatusBadRequest, "A value was refused", oxbow.ErrInvalid},
	{"permission", http.StatusInternalServerError, "The file of the memory may not be opened", fs.ErrPermission},
	{"timeout", http.StatusGatewayTimeout, "It took too long", context.DeadlineExceeded},
	{"canceled", http.StatusServiceUnavailable, "The call was cancelled", context.Canceled},
}

// maxErrorDetailBytes is the maximum length, in bytes, of the error text in an answer with an error.
const maxErrorDetailBytes = 4 << 10

// MakeProblem returns the application/problem+json document that the server sends for an error. The field Remedy of the
// document is empty.
func MakeProblem(err error) Problem {
	p := Problem{Type: "about:blank", Title: "The server failed", Status: http.StatusInternalServerError,
		Code: "internal", Detail: text.TruncateWithEllipsis(err.Error(), maxErrorDetailBytes)}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		p.Code = "too_large"
		p.Status = http.StatusRequestEntityTooLarge
		p.Title = "The request is too large"
		p.Limit = large.Limit
		p.Detail = "the request is larger than " + text.FormatBytes(large.Limit) + ", the most that is read"
		return p
	}
	for _, c := range problemCodes {
		if errors.Is(err, c.err) {
			p.Code = c.code
			p.Status = c.status
			p.Title = c.title
			break
		}
	}
	p.setErrorFields(err)
	p.hideFileNames(err)
	return p
}

// serverPathPattern returns a pattern for the beginning of an absolute path on the server.
var serverPathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w.~/-])(/[^/\s]|[A-Za-z]:[\\/]|\\\\)`)
})

// hideFileNames replaces p.Detail and stores the original error in p.CompleteError if p.Detail may reveal where the
// server stores its files. This is the case if p.Detail contains a path and the error is about the server's storage:
// p.Status is at least 500, or p.Code is "read_only" or "position". Other errors stay unchanged.
func (p *Problem) hideFileNames(err error) {
	mayNameFiles := p.Status >= 500 || p.Code == "read_only" || p.Code == "position"
	if !mayNameFiles || !serverPathPattern().MatchString(p.Detail) {
		return
	}
	p.CompleteError, p.Detail = err, "the log of the server says why"
	if cause := p.errorForCode(); cause != nil {
		p.Detail = cause.Error()
	}
}

// LogErrorWithFileNames logs the complete error if file names were removed from Detail. log may be nil.
func (p Problem) LogErrorWithFileNames(log *slog.Logger) {
	if p.CompleteError != nil && log != nil {
		log.Error("a request failed", "status", p.Status, "code", p.Code, "error", p.CompleteError)
	}
}

// setErrorFields copies the fields of an error type in package oxbow to p's fields, for example the name in an
// [oxbow.NameError] to p.EntryName. For an [oxbow.AliasError], it also replaces p's code and title, and sets the status
// if the alias is taken.
func (p *Problem) setErrorFields(err error) {
	if e, ok := errors.AsType[*oxbow.InvalidError](err); ok && p.Code == "invalid" {
		p.Field = e.Field
		p.InvalidValue = text.TruncateWithEllipsis(e.Value, maxErrorDetailBytes)
		p.Reason = e.Reason
	}
	if e, ok := errors.AsType[*oxbow.NameError](err); ok {
		p.EntryName = text.TruncateWithEllipsis(e.Name, maxErrorDetailBytes)
	}
	if e, ok := errors.AsType[*oxbow.ConflictError](err); ok && p.Code == "conflict" {
		p.EntryName = e.Name
		p.ExpectedVersion = e.Want
		p.PresentVersion = e.Have
	}
	if e, ok := errors.AsType[*oxbow.QuotaError](err); ok && p.Code == "quota" {
		p.LimitName = e.Bound
		p.Limit = e.Most
		p.RetrySeconds = int((e.Wait + time.Second - 1) / time.Second)
	}
	if e, ok := errors.AsType[*oxbow.AliasError](err); ok && p.Code == "not_found" {
		p.Code = "ambiguous"
		p.Title = "The alias is of several entries"
		p.Alias = e.Alias
		p.AmbiguousNames = e.Names
	}
	if e, ok := errors.AsType[*oxbow.AliasError](err); ok && p.Code == "invalid" {
		p.Code = "alias_taken"
		p.Title = "The alias is taken"
		p.Status = http.StatusConflict
		p.Alias = e.Alias
		p.AliasOwner = e.Names[0]
	}
}

// Err returns the error that the document describes. It has the same text as the error on the server, and matches the
// same errors.
func (p Problem) Err() error {
	err := p.errorForCode()
	if err != nil && err.Error() == p.Detail {
		return err
	}
	return &receivedProblemError{p, err}
}

// errorForCode returns the error of package oxbow that belongs to the code, or nil for any other code.
func (p Problem) errorForCode() error {
	var err error
	for _, c := range problemCodes {
		if c.code == p.Code {
			err = c.err
		}
	}
	switch {
	case p.Code == "invalid" && p.Field != "":
		return &oxbow.InvalidError{Field: p.Field, Value: p.InvalidValue, Reason: p.Reason}
	case p.Code == "too_large":
		return &oxbow.InvalidError{Field: "request", Reason: "is too large; split it"}
	case p.Code == "quota" && p.LimitName != "":
		return &oxbow.QuotaError{Bound: p.LimitName, Most: p.Limit, Wait: time.Duration(p.RetrySeconds) * time.Second}
	case p.Code == "ambiguous" && len(p.AmbiguousNames) > 1:
		return &oxbow.AliasError{Alias: p.Alias, Names: p.AmbiguousNames}
	case p.Code == "alias_taken":
		return &oxbow.AliasError{Alias: p.Alias, Names: []string{p.AliasOwner}}
	case p.Code == "conflict" && p.EntryName != "":
		return &oxbow.ConflictError{Name: p.EntryName, Want: p.ExpectedVersion, Have: p.PresentVersion}
	case err != nil && p.EntryName != "":
		return &oxbow.NameError{Name: p.EntryName, Err: err}
	}
	return err
}

// receivedProblemError is an error that a server has sent.
type receivedProblemError struct {
	problem Problem
	err     error // error of package oxbow to which the server's error code corresponds, or nil
}

func (e *receivedProblemError) Error() string {
	if e.problem.Detail == "" {
		return "the server answered " + strconv.Itoa(e.problem.Status)
	}
	return e.problem.Detail
}

func (e *receivedProblemError) Unwrap() error { return e.err }

// Write sends the document as the answer to a request.
func (p Problem) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	if p.RetrySeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetrySeconds))
	}
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // An error means that the client has disconnected, so it is ignored.
}
