// This file is the table of all routes.

package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// routes builds the table on first use, because many programs never serve requests.
var routes = sync.OnceValue(func() []route {
	return slices.Concat(entryRoutes(), recallRoutes(), logRoutes(), labelRoutes(), contextRoutes(),
		inboxRoutes(), sessionRoutes(), handoffRoutes(), profileRoutes(), codeRoutes(), careRoutes())
})

// findRoute returns the route for a request and the arguments in its path, which is relative to
// base. If the path has no such method, found is nil. allowed lists the methods of the path
// and is nil if the path is unknown.
func findRoute(method, escapedPath string) (found *route, args map[string]string, allowed []string) {
	segments, ok := splitPath(escapedPath)
	if !ok {
		return nil, nil, nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	all, most := routes(), -1
	for i := range all {
		r := &all[i]
		got, literal, ok := r.match(segments)
		if !ok || literal < most {
			continue
		}
		if literal > most { // a literal segment precedes an argument: /sessions/search does not name a session
			found = nil
			args = nil
			allowed = nil
			most = literal
		}
		allowed = append(allowed, r.method)
		if r.method == method {
			found, args = r, got
		}
	}
	if slices.Contains(allowed, http.MethodGet) {
		allowed = append(allowed, http.MethodHead)
	}
	if allowed != nil {
		allowed = append(allowed, http.MethodOptions)
	}
	return found, args, allowed
}

// splitPath splits an escaped path and unescapes each segment, because a name may contain a slash.
func splitPath(escaped string) (segments []string, ok bool) {
	for s := range strings.SplitSeq(strings.TrimPrefix(escaped, "/"), "/") {
		s, err := url.PathUnescape(s)
		if err != nil {
			return nil, false
		}
		segments = append(segments, s)
	}
	return segments, true
}
