// This file converts errors to problem documents (RFC 9457).

package httpapi

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/profile"
)

// problemForError returns the problem document for an error, including a remedy.
func problemForError(err error) remote.Problem {
	if e, ok := errors.AsType[*apiError](err); ok {
		return e.Problem
	}
	p := remote.MakeProblem(err)
	if p.Code != "too_large" {
		p.Remedy = verb.ErrorRemedy(err).Render(referenceText)
	}
	refused, isRefused := errors.AsType[*auth.RefusedError](err)
	_, unreadable := errors.AsType[profile.Diagnostics](err)
	switch {
	case isRefused:
		p.Status = refused.Status
		p.Code = problemCode(refused.Status)
		p.Title = http.StatusText(refused.Status)
	case errors.Is(err, rights.ErrBoundProfile):
		p.Status = http.StatusForbidden
		p.Code = "bound"
		p.Title = "This token is bound to another profile"
	case unreadable:
		p.Status = http.StatusConflict
		p.Code = "profile"
		p.Title = "The profile cannot be read"
	case errors.Is(err, fs.ErrNotExist) && p.Code == "internal":
		p.Status = http.StatusNotFound
		p.Code = "no_file"
		p.Title = "There is no such file"
	}
	return p
}

// problemCode returns the problem code for the HTTP status with which the guard refuses a request.
func problemCode(status int) string {
	return map[int]string{
		http.StatusUnauthorized:          "unauthorized",
		http.StatusForbidden:             "forbidden",
		http.StatusRequestEntityTooLarge: "too_large",
		http.StatusServiceUnavailable:    "unchecked",
	}[status]
}

// writeProblem sends an error as a problem document. Details that the client may not see are written to log instead.
func writeProblem(w http.ResponseWriter, r *http.Request, err error, log *slog.Logger) {
	if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
		refused.SetChallenge(w.Header())
	}
	if refused, ok := errors.AsType[*apiError](err); ok && refused.currentETag != "" {
		w.Header().Set("ETag", refused.currentETag)
	}
	p := problemForError(err)
	p.LogErrorWithFileNames(log)
	if p.Code == "too_large" {
		// Close the connection, because the rest of the request body will not be read.
		w.Header().Set("Connection", "close")
	}
	if r.Method != http.MethodHead {
		p.Write(w)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
}
