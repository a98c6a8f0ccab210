// This file defines routes. A route maps a method and a path to a verb.

package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// basePath is the prefix of every route's path.
const basePath = "/api/v1"

// route connects a method and a path with the verb that it calls.
type route struct {
	method string
	path   string // path relative to basePath, such as /entries/{name}; a segment in braces is an argument
	verb   verb.Verb

	needsWholeMemory     bool // the route needs the whole memory, so it is refused for a token that may see only a part
	isSingleChange       bool // the verb makes a single change, in which the store can record the idempotency key
	hasEntryNameArgument bool // the argument "name" is the name of an entry, which need not exist yet
	needsEntry           bool // the route fails if the entry does not exist
	isPaged              bool // the result is a page, with the member next_offset
	hasConstantTime      bool // the time for the verb hardly depends on the size of the memory
}

// routeOption sets a property of a route.
type routeOption func(*route)

func requireWholeMemoryAccess(r *route) { r.needsWholeMemory = true }
func markSingleChange(r *route)         { r.isSingleChange = true }
func markEntryNameArgument(r *route)    { r.hasEntryNameArgument = true }
func requireExistingEntry(r *route)     { r.needsEntry = true }
func markPaged(r *route)                { r.isPaged = true }
func markConstantTime(r *route)         { r.hasConstantTime = true }

// markDestructive marks a route whose verb removes something.
func markDestructive(r *route) { r.verb.Destructive = true }

// verbFunc is the function that implements a verb.
type verbFunc[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// newReadRoute returns a GET route whose verb only reads.
func newReadRoute[In, Out any](path, name, summary string, run verbFunc[In, Out], options ...routeOption) route {
	return newRoute(
		http.MethodGet,
		path,
		verb.Verb{Name: name, Title: summary, ReadOnly: true, Idempotent: true},
		run,
		options,
	)
}

// newWriteRoute returns a route for an operation that may change the memory. In oxbow, a verb is such an operation, and
// not the HTTP method.
func newWriteRoute[In, Out any](
	method, path, name, summary string,
	run verbFunc[In, Out],
	options ...routeOption,
) route {
	return newRoute(
		method,
		path,
		verb.Verb{Name: name, Title: summary, Idempotent: method != http.MethodPost},
		run,
		options,
	)
}

func newRoute[In, Out any](method, path string, v verb.Verb, run verbFunc[In, Out], options []routeOption) route {
	r := route{method: method, path: path, verb: verb.MakeVerb(v, run)}
	for _, t := range options {
		t(&r)
	}
	return r
}

// argumentNames returns the names of the arguments in the route's path.
func (r *route) argumentNames() (names []string) {
	for s := range strings.SplitSeq(r.path, "/") {
		if name, ok := parsePathArgument(s); ok {
			names = append(names, name)
		}
	}
	return names
}

// parsePathArgument returns the name of the argument in a path segment such as {name}. ok is false for other segments.
func parsePathArgument(segment string) (name string, ok bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
