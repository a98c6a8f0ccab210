// This file converts the errors of a store to problem documents (RFC 9457), and back.

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

// Problem is an error in the form of an application/problem+json document. Programs should examine
// Code. The fields below Code correspond to the fields of the error types of package oxbow.
type Problem struct {
	Type   string `json:"type"`   // always "about:blank"
	Title  string `json:"title"`  // the same text for all problems with this code
	Status int    `json:"status"` // HTTP status
	Detail string `json:"detail"` // a sentence without a final period
	Code   string `json:"code"`
	Remedy string `json:"remedy,omitempty"` // optional advice about what to do next

	Field  string `json:"field,omitempty"` // for invalid: the refused field
	Value  string `json:"value,omitempty"`
	Reason string `json:"reason,omitempty"`

	Name        string   `json:"name,omitempty"`  // name of the entry
	Names       []string `json:"names,omitempty"` // for ambiguous: two of the entries
	Alias       string   `json:"alias,omitempty"` // for ambiguous and alias_taken
	Owner       string   `json:"owner,omitempty"` // for alias_taken
	WantVersion uint64   `json:"want,omitempty"`  // for conflict: the expected version
	HaveVersion uint64   `json:"have,omitempty"`  // for conflict: the present version (0 if the entry does not exist)
	Limit       int64    `json:"limit,omitempty"` // maximum, for too_large in bytes, for quota in the unit of the quota
	LimitName   string   `json:"bound,omitempty"` // for quota: the name of the limit
	// for quota: the number of seconds after which another attempt may succeed
	RetrySeconds int `json:"retry,omitempty"`

	// The complete error, for the server's log, if Detail leaves out file names of the server.
	Withheld error `json:"-"`
}

// problemCodes are tried in order, so that more specific errors come first. The code of all other errors
// is "internal".
var problemCodes = []struct {
	code   string
	status int
	title  string
	err    error // error that the code represents, on server and client
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

// maxDetail is the maximum length, in bytes, of a text that a document repeats.
const maxDetail = 4 << 10

// MakeProblem returns the document for an error, without a remedy.
func MakeProblem(err error) Problem {
	p := Problem{Type: "about:blank", Title: "The server failed", Status: http.StatusInternalServerError,
		Code: "internal", Detail: text.TruncateWithEllipsis(err.Error(), maxDetail)}
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

// serverPath matches the beginning of an absolute path on the server's machine.
var serverPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w.~/-])(/[^/\s]|[A-Za-z]:[\\/]|\\\\)`)
})

// hideFileNames removes the server's file names from the detail of a server failure.
func (p *Problem) hideFileNames(err error) {
	mayNameFiles := p.Status >= 500 || p.Code == "read_only" || p.Code == "position"
	if !mayNameFiles || !serverPath().MatchString(p.Detail) {
		return
	}
	p.Withheld, p.Detail = err, "the log of the server says why"
	if cause := p.knownError(); cause != nil {
		p.Detail = cause.Error()
	}
}

// LogWithheld logs the error that the document withholds. log may be nil.
func (p Problem) LogWithheld(log *slog.Logger) {
	if p.Withheld != nil && log != nil {
		log.Error("a request failed", "status", p.Status, "code", p.Code, "error", p.Withheld)
	}
}

// setErrorFields sets the fields that belong to an error type of package oxbow.
func (p *Problem) setErrorFields(err error) {
	if e, ok := errors.AsType[*oxbow.InvalidError](err); ok && p.Code == "invalid" {
		p.Field = e.Field
		p.Value = text.TruncateWithEllipsis(e.Value, maxDetail)
		p.Reason = e.Reason
	}
	if e, ok := errors.AsType[*oxbow.NameError](err); ok {
		p.Name = text.TruncateWithEllipsis(e.Name, maxDetail)
	}
	if e, ok := errors.AsType[*oxbow.ConflictError](err); ok && p.Code == "conflict" {
		p.Name = e.Name
		p.WantVersion = e.Want
		p.HaveVersion = e.Have
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
		p.Names = e.Names
	}
	if e, ok := errors.AsType[*oxbow.AliasError](err); ok && p.Code == "invalid" {
		p.Code = "alias_taken"
		p.Title = "The alias is taken"
		p.Status = http.StatusConflict
		p.Alias = e.Alias
		p.Owner = e.Names[0]
	}
}

// Err returns the error for the document. It has the same text as the server's error and matches
// the same errors.
func (p Problem) Err() error {
	err := p.knownError()
	if err != nil && err.Error() == p.Detail {
		return err
	}
	return &answeredError{p, err}
}

// knownError returns the error of package oxbow that corresponds to the document, or nil if there
// is no such error.
func (p Problem) knownError() error {
	var err error
	for _, c := range problemCodes {
		if c.code == p.Code {
			err = c.err
		}
	}
	switch {
	case p.Code == "invalid" && p.Field != "":
		return &oxbow.InvalidError{Field: p.Field, Value: p.Value, Reason: p.Reason}
	case p.Code == "too_large":
		return &oxbow.InvalidError{Field: "request", Reason: "is too large; split it"}
	case p.Code == "quota" && p.LimitName != "":
		return &oxbow.QuotaError{Bound: p.LimitName, Most: p.Limit, Wait: time.Duration(p.RetrySeconds) * time.Second}
	case p.Code == "ambiguous" && len(p.Names) > 1:
		return &oxbow.AliasError{Alias: p.Alias, Names: p.Names}
	case p.Code == "alias_taken":
		return &oxbow.AliasError{Alias: p.Alias, Names: []string{p.Owner}}
	case p.Code == "conflict" && p.Name != "":
		return &oxbow.ConflictError{Name: p.Name, Want: p.WantVersion, Have: p.HaveVersion}
	case err != nil && p.Name != "":
		return &oxbow.NameError{Name: p.Name, Err: err}
	}
	return err
}

// answeredError is an error with the server's text.
type answeredError struct {
	problem Problem
	err     error // error of package oxbow that corresponds to the text, or nil
}

func (e *answeredError) Error() string {
	if e.problem.Detail == "" {
		return "the server answered " + strconv.Itoa(e.problem.Status)
	}
	return e.problem.Detail
}

func (e *answeredError) Unwrap() error { return e.err }

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
	_ = e.Encode(p) // ignore the error: the client has disconnected
}
