// The notes in the results of verbs recommend further calls. This file writes such a recommendation as an HTTP
// request.

package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// referenceText returns the text for a reference in a note, if the reader of the note uses the HTTP API. A reference to
// a verb or a call becomes an HTTP request, such as "GET /recall". A reference to the next page becomes the offset of
// this page. Any other reference gets the same text as in other interfaces.
func referenceText(r verb.NoteReference) string {
	switch r := r.(type) {
	case verb.VerbRef:
		return verbMethodAndPath(string(r))
	case verb.NextPageRef:
		return fmt.Sprintf("the next page has offset %d", int(r))
	case *verb.CallHint:
		said := strings.TrimSpace(formatRequest(r.Verb, r.Args) + " " + r.Effect)
		if r.Purpose != "" {
			return "to " + r.Purpose + ": " + said
		}
		return said
	}
	return verb.Notef("%s", r).String()
}

// formatRequest returns the HTTP request for a call of a verb, as text: the method, the path, and the JSON body. An
// argument that is part of the path is not in the body.
func formatRequest(verbName string, args []verb.HintArgument) string {
	request, body := verbMethodAndPath(verbName), map[string]any{}
	for _, a := range args {
		inPath := "{" + a.Name + "}"
		if s, ok := a.Value.(string); ok && strings.Contains(request, inPath) {
			request = strings.Replace(request, inPath, escapeSegment(s), 1)
			continue
		}
		body[a.Name] = a.Value
	}
	b, err := json.Marshal(body)
	if err != nil {
		return request
	}
	return request + " with " + string(b)
}

// verbMethodAndPath returns the HTTP method and the path of the route for a verb, such as "GET /recall". The route for
// the verb history is the route for the verb log. If no route belongs to the verb, verbMethodAndPath returns the verb's
// name.
func verbMethodAndPath(verb string) string {
	if verb == "history" {
		verb = "log"
	}
	for _, r := range routeTable() {
		if r.verb.Name == verb {
			return r.method + " " + basePath + r.path
		}
	}
	return verb
}
