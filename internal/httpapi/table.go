// The table of all routes.

package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// routes is made when it is first needed: a program may serve no requests.
var routes = sync.OnceValue(func() []route {
	return slices.Concat(entryRoutes(), recallRoutes(), logRoutes(), labelRoutes(), contextRoutes(),
		inboxRoutes(), sessionRoutes(), handoffRoutes(), profileRoutes(), codeRoutes(), careRoutes())
})

// find returns the route of a request, below base, and its arguments; or the methods
// that the path has, none where there is no such path.
func find(method, escapedPath string) (found *route, args map[string]string, allowed []string) {
	segments, ok := cut(escapedPath)
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
		if literal > most { // /sessions/search is no session
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

// cut cuts an escaped path into segments, each unescaped: a name may hold a slash.
func cut(escaped string) (segments []string, ok bool) {
	for s := range strings.SplitSeq(strings.TrimPrefix(escaped, "/"), "/") {
		s, err := url.PathUnescape(s)
		if err != nil {
			return nil, false
		}
		segments = append(segments, s)
	}
	return segments, true
}
