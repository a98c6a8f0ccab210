// Routes: one row for a method, a path and a verb.

package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// base is before the path of each route.
const base = "/api/v1"

// route is what a method of a path does.
type route struct {
	method string
	path   string // below base, such as /entries/{name}; what is in braces is an argument
	verb   verb.Verb

	whole bool // it reaches beyond what a bound view shows
	once  bool // it makes one change, and the store keeps the key of a repeat with it
	entry bool // it is about the entry that the argument name names, or that it makes
	must  bool // the entry must be there
	paged bool // its answer has next_offset
	quick bool // its work does not grow with the memory, or hardly
}

// trait is one of the fields of a route.
type trait func(*route)

func whole(r *route) { r.whole = true }
func once(r *route)  { r.once = true }
func entry(r *route) { r.entry = true }
func must(r *route)  { r.must = true }
func paged(r *route) { r.paged = true }
func quick(r *route) { r.quick = true }

// takes marks a verb that takes something away.
func takes(r *route) { r.verb.Destructive = true }

// call is a function of package verb.
type call[In, Out any] func(context.Context, *verb.Workspace, In) (Out, error)

// look makes a route that reads.
func look[In, Out any](path, name, summary string, run call[In, Out], traits ...trait) route {
	return newRoute(http.MethodGet, path, verb.Verb{Name: name, Title: summary, ReadOnly: true, Idempotent: true}, run, traits)
}

// change makes a route that writes.
func change[In, Out any](method, path, name, summary string, run call[In, Out], traits ...trait) route {
	return newRoute(method, path, verb.Verb{Name: name, Title: summary, Idempotent: method != http.MethodPost}, run, traits)
}

func newRoute[In, Out any](method, path string, v verb.Verb, run call[In, Out], traits []trait) route {
	r := route{method: method, path: path, verb: verb.MakeVerb(v, run)}
	for _, t := range traits {
		t(&r)
	}
	return r
}

// arguments returns the names of the arguments in the path.
func (r *route) arguments() (names []string) {
	for s := range strings.SplitSeq(r.path, "/") {
		if name, ok := argument(s); ok {
			names = append(names, name)
		}
	}
	return names
}

// argument returns the name of the argument that a segment of a path stands for.
func argument(segment string) (name string, ok bool) {
	if strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") {
		return segment[1 : len(segment)-1], true
	}
	return "", false
}

// match reports whether a path, cut and unescaped, is that of the route, and the
// arguments in it. Literal is how many segments are not arguments.
func (r *route) match(segments []string) (args map[string]string, literal int, ok bool) {
	pattern := strings.Split(strings.TrimPrefix(r.path, "/"), "/")
	if len(pattern) != len(segments) {
		return nil, 0, false
	}
	args = map[string]string{}
	for i, p := range pattern {
		name, isArg := argument(p)
		switch {
		case isArg && segments[i] != "":
			args[name] = segments[i]
		case p == segments[i]:
			literal++
		default:
			return nil, 0, false
		}
	}
	return args, literal, true
}
