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

// route is one method of a path, and the verb that it calls.
type route struct {
	method string
	path   string // relative to base, such as /entries/{name}; braces contain the name of an argument
	verb   verb.Verb

	wholeMemory    bool // refused for a view that shows only a part of the memory
	isSingleChange bool // makes a single change, so that the store can record the idempotency key in it
	isAboutEntry   bool // concerns the entry that the argument name names, which may be new
	needsEntry     bool // fails if the entry does not exist
	hasPages       bool // the result has a member next_offset
	isQuick        bool // takes about the same time in a large memory as in a small one
}

// routeOption sets a field of a route.
type routeOption func(*route)

func requireWholeMemory(r *route) { r.wholeMemory = true }
func markSingleChange(r *route)   { r.isSingleChange = true }
func markAboutEntry(r *route)     { r.isAboutEntry = true }
func requireEntry(r *route)       { r.needsEntry = true }
func markWithPages(r *route)      { r.hasPages = true }
func markQuick(r *route)          { r.isQuick = true }

// markDestructive marks a route that removes something.
func markDestructive(r *route) { r.verb.Destructive = true }

// verbFunc is a function of package verb that implements a verb.
type verbFunc[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// readRoute returns a route that only reads.
func readRoute[In, Out any](path, name, summary string, run verbFunc[In, Out], traits ...routeOption) route {
	return newRoute(
		http.MethodGet,
		path,
		verb.Verb{Name: name, Title: summary, ReadOnly: true, Idempotent: true},
		run,
		traits,
	)
}

// writeRoute returns a route that writes.
func writeRoute[In, Out any](method, path, name, summary string, run verbFunc[In, Out], traits ...routeOption) route {
	return newRoute(
		method,
		path,
		verb.Verb{Name: name, Title: summary, Idempotent: method != http.MethodPost},
		run,
		traits,
	)
}

func newRoute[In, Out any](method, path string, v verb.Verb, run verbFunc[In, Out], traits []routeOption) route {
	r := route{method: method, path: path, verb: verb.MakeVerb(v, run)}
	for _, t := range traits {
		t(&r)
	}
	return r
}

// argumentNames returns the names of the arguments in the path.
func (r *route) argumentNames() (names []string) {
	for s := range strings.SplitSeq(r.path, "/") {
		if name, ok := pathArgument(s); ok {
			names = append(names, name)
		}
	}
	return names
}

// pathArgument returns the name in a path segment of the form {name}.
func pathArgument(segment string) (name string, ok bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
