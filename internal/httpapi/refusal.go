// Refusals: what a request gets that no verb has looked at.

package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
)

// refusal is an error of the API alone, which no sentinel names.
type refusal struct {
	remote.Problem
	tag string // of the entry as it is now, where a condition failed
}

func (e *refusal) Error() string { return e.Detail }

// refuse returns the error of a request, and what to do about it.
func refuse(status int, code, title, detail, remedy string) error {
	return &refusal{Problem: remote.Problem{Type: "about:blank", Status: status, Code: code, Title: title, Detail: detail, Remedy: remedy}}
}

// failedCondition is the error of a change that does not hold for what there is: the
// entry of that name, which has the tag, or none.
func failedCondition(name, tag string) error {
	detail := "the entry " + quoted(name) + " is not as the request was made for it"
	if tag == "" {
		detail = "there is no entry " + quoted(name) + " that If-Match could hold for"
	}
	return &refusal{tag: tag, Problem: remote.Problem{Type: "about:blank", Status: http.StatusPreconditionFailed, Code: "precondition",
		Title: "The entry is not as it was", Detail: detail, Name: clip(name),
		Remedy: "GET the entry, merge your change into what it says now, and send it with If-Match and its ETag"}}
}

// noRoute is the error of a path that there is not.
func noRoute(r *http.Request) error {
	return refuse(http.StatusNotFound, "no_route", "There is no such path", "there is nothing at "+clip(r.URL.Path), "GET /openapi.json lists what there is")
}

// wrongMethod is the error of a method that a path does not have, or the answer to
// the question which it has.
func wrongMethod(w http.ResponseWriter, r *http.Request, allowed []string) error {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return refuse(http.StatusMethodNotAllowed, "method", "The path has no such method", clip(r.URL.Path)+" takes "+strings.Join(allowed, ", ")+", not "+clip(r.Method), "")
}

// maxClip bounds, in bytes, what a problem repeats of a path or a header.
const maxClip = 200

func clip(s string) string { return text.Clip(strings.ToValidUTF8(s, "\uFFFD"), maxClip) }

func quoted(name string) string { return strconv.Quote(clip(name)) }
