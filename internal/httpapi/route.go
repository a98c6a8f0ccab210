// This file defines routes. A route maps a method and a path to a verb.

package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// base is the prefix of every route's path.
const base = "/api/v1"

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

// trait sets a field of a route.
type trait func(*route)

func wholeMemory(r *route)  { r.wholeMemory = true }
func singleChange(r *route) { r.isSingleChange = true }
func aboutEntry(r *route)   { r.isAboutEntry = true }
func needsEntry(r *route)   { r.needsEntry = true }
func withPages(r *route)    { r.hasPages = true }
func isQuick(r *route)      { r.isQuick = true }

// removesData marks a route that removes something.
func removesData(r *route) { r.verb.Destructive = true }

// call is a function of package verb that implements a verb.
type call[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// look returns a route that only reads.
func look[In, Out any](path, name, summary string, run call[In, Out], traits ...trait) route {
	return newRoute(
		http.MethodGet,
		path,
		verb.Verb{Name: name, Title: summary, ReadOnly: true, Idempotent: true},
		run,
		traits,
	)
}

// change returns a route that writes.
func change[In, Out any](method, path, name, summary string, run call[In, Out], traits ...trait) route {
	return newRoute(
		method,
		path,
		verb.Verb{Name: name, Title: summary, Idempotent: method != http.MethodPost},
		run,
		traits,
	)
}

func newRoute[In, Out any](method, path string, v verb.Verb, run call[In, Out], traits []trait) route {
	r := route{method: method, path: path, verb: verb.MakeVerb(v, run)}
	for _, t := range traits {
		t(&r)
	}
	return r
}

// argumentNames returns the names of the arguments in the path.
func (r *route) argumentNames() (names []string) {
	for s := range strings.SplitSeq(r.path, "/") {
		if name, ok := argument(s); ok {
			names = append(names, name)
		}
	}
	return names
}

// argument returns the name in a path segment of the form {name}.
func argument(segment string) (name string, ok bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}
