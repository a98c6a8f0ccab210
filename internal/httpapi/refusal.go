// This file defines the errors for requests that are refused before their verb is called.

package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
)

// apiError is an error that only the HTTP API returns. Package remote lacks a sentinel error for this case.
type apiError struct {
	remote.Problem
	currentETag string // current ETag of the entry, set only if the ETag in the request's condition does not match it
}

func (e *apiError) Error() string { return e.Detail }

// requestError returns an error with the parts of a problem document: status, code, title, detail and remedy.
func requestError(status int, code, title, detail, remedy string) error {
	return &apiError{
		Problem: remote.Problem{Type: "about:blank", Status: status, Code: code, Title: title, Detail: detail,
			Remedy: remedy},
	}
}

// failedConditionError returns the error for a change whose condition the named entry does not meet. tag is the
// current ETag of the entry, or "" if the entry does not exist.
func failedConditionError(name, tag string) error {
	detail := "the entry " + quoteName(name) + " is not as the request was made for it"
	if tag == "" {
		detail = "there is no entry " + quoteName(name) + " that If-Match could hold for"
	}
	return &apiError{
		currentETag: tag,
		Problem: remote.Problem{Type: "about:blank", Status: http.StatusPreconditionFailed, Code: "precondition",
			Title: "The entry is not as it was", Detail: detail, EntryName: shortenQuotedText(name),
			Remedy: "GET the entry, merge your change into what it says now, and send it with If-Match and its ETag"},
	}
}

// noRouteError returns the error for a request with an unknown path.
func noRouteError(r *http.Request) error {
	return requestError(http.StatusNotFound, "no_route", "There is no such path", "there is nothing at "+
		shortenQuotedText(r.URL.Path), "GET /openapi.json lists what there is")
}

// wrongMethodError returns the error for a method that the path does not support. For the method OPTIONS, it sends the
// response and returns nil.
func wrongMethodError(w http.ResponseWriter, r *http.Request, allowed []string) error {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return requestError(
		http.StatusMethodNotAllowed,
		"method",
		"The path has no such method",
		shortenQuotedText(r.URL.Path)+" takes "+
			strings.Join(allowed, ", ")+", not "+shortenQuotedText(r.Method),
		"",
	)
}

// maxQuotedTextBytes is the maximum number of bytes that a problem document quotes from a path or a header.
const maxQuotedTextBytes = 200

func shortenQuotedText(s string) string {
	return text.TruncateWithEllipsis(strings.ToValidUTF8(s, "\uFFFD"), maxQuotedTextBytes)
}

func quoteName(name string) string { return strconv.Quote(shortenQuotedText(name)) }
