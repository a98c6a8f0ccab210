// This file defines the errors of requests that are refused before a verb is called.

package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
)

// refusal is an error that only this API returns, so that package remote has no sentinel for
// it.
type refusal struct {
	remote.Problem
	tag string // current ETag of the entry if a condition failed, otherwise ""
}

func (e *refusal) Error() string { return e.Detail }

// refuse returns the error for a request, with a remedy.
func refuse(status int, code, title, detail, remedy string) error {
	return &refusal{
		Problem: remote.Problem{Type: "about:blank", Status: status, Code: code, Title: title, Detail: detail,
			Remedy: remedy},
	}
}

// failedCondition returns the error for a change with a condition that does not hold for the
// named entry. The tag is the entry's current ETag, or "" if there is no such entry.
func failedCondition(name, tag string) error {
	detail := "the entry " + quoteName(name) + " is not as the request was made for it"
	if tag == "" {
		detail = "there is no entry " + quoteName(name) + " that If-Match could hold for"
	}
	return &refusal{
		tag: tag,
		Problem: remote.Problem{Type: "about:blank", Status: http.StatusPreconditionFailed, Code: "precondition",
			Title: "The entry is not as it was", Detail: detail, Name: clip(name),
			Remedy: "GET the entry, merge your change into what it says now, and send it with If-Match and its ETag"},
	}
}

// noRoute returns the error for an unknown path.
func noRoute(r *http.Request) error {
	return refuse(http.StatusNotFound, "no_route", "There is no such path", "there is nothing at "+
		clip(r.URL.Path), "GET /openapi.json lists what there is")
}

// wrongMethod returns the error for a method that the path does not support. It answers
// OPTIONS itself.
func wrongMethod(w http.ResponseWriter, r *http.Request, allowed []string) error {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return refuse(http.StatusMethodNotAllowed, "method", "The path has no such method", clip(r.URL.Path)+" takes "+
		strings.Join(allowed, ", ")+", not "+clip(r.Method), "")
}

// maxClip is the maximum length in bytes of a path or header value that a problem document
// quotes.
const maxClip = 200

func clip(s string) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), maxClip) }

func quoteName(name string) string { return strconv.Quote(clip(name)) }
