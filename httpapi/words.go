// What notes of the verbs refer to, as requests.

package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/tool"
)

// reference writes what a note refers to as a request.
func reference(r tool.Reference) string {
	switch r := r.(type) {
	case tool.VerbRef:
		return requestOf(string(r))
	case tool.PageRef:
		return fmt.Sprintf("the next page has offset %d", int(r))
	case *tool.Hint:
		args := map[string]any{}
		for _, a := range r.Args {
			args[a.Name] = a.Value
		}
		body, err := json.Marshal(args)
		if err != nil {
			body = []byte("{}")
		}
		said := strings.TrimSpace(requestOf(r.Verb) + " with " + string(body) + " " + r.Does)
		if r.To != "" {
			return "to " + r.To + ": " + said
		}
		return said
	}
	return tool.Notef("%s", r).String()
}

// requestOf returns the method and path of a verb, by the name that notes have.
func requestOf(verb string) string {
	if verb == "history" {
		verb = "log"
	}
	for _, r := range routes() {
		if r.verb.Name == verb {
			return r.method + " " + base + r.path
		}
	}
	return verb
}
