// This file finds the handler for a request.

package httpapi

import (
	"log/slog"
	"net/http"
	"path"

	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

// newMux returns a handler for all paths of the API. The context of each request must contain the view state (see
// [viewStateContextKey]).
func newMux(feed *history.ChangeFeed, log *slog.Logger) *http.ServeMux {
	mux := http.NewServeMux()
	all := routeTable()
	for i := range all {
		mux.Handle(all[i].method+" "+basePath+all[i].path, verbHandler{&all[i], log})
	}
	mux.HandleFunc(basePath+"/events", func(w http.ResponseWriter, r *http.Request) {
		if err := viewStateFromRequest(r).serveEvents(w, r, feed); err != nil {
			writeProblem(w, r, err, log)
		}
	})
	mux.Handle(basePath+"/store/", remote.Handler(openReadableStore, log))
	return mux
}

// findHandler returns the handler for the path and the method of a request. If the path is unknown or is not clean, it
// returns an error for the client. If the path is known but does not support the method, it returns a handler that
// writes an error response with the allowed methods.
func (s *Server) findHandler(r *http.Request) (http.Handler, error) {
	escaped, mux := r.URL.EscapedPath(), s.mux()
	if clean := path.Clean(escaped); escaped != clean && escaped != clean+"/" {
		// ServeMux would redirect such a path to a path without "//", "." and "..", which may name another entry.
		return nil, noRouteError(r)
	}
	h, pattern := mux.Handler(r)
	if pattern != "" {
		return mux, nil // Return mux and not h, because only mux sets the path values of the request.
	}
	refused := refusalRecorder{http.Header{}}
	h.ServeHTTP(refused, r)
	allowed := refused.header.Values("Allow")
	if len(allowed) == 0 {
		return nil, noRouteError(r)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := wrongMethodError(w, r, append(allowed, http.MethodOptions)); err != nil {
			writeProblem(w, r, err, s.serverOptions.Logger)
		}
	}), nil
}

// refusalRecorder records the headers of the response with which ServeMux refuses a request. For status 405, they
// contain the allowed methods.
type refusalRecorder struct{ header http.Header }

func (w refusalRecorder) Header() http.Header         { return w.header }
func (w refusalRecorder) Write(b []byte) (int, error) { return len(b), nil }
func (w refusalRecorder) WriteHeader(int)             {}
