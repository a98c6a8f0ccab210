// This file finds the handler for a request.

package httpapi

import (
	"log/slog"
	"net/http"
	"path"

	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

// newMux returns the handlers of all paths. Each handler needs the room of its request (see
// [roomInContext]).
func newMux(feed *history.Feed, log *slog.Logger) *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := answer(w, r); err != nil {
				writeProblem(w, r, err, log)
			}
		})
	}
	all := routes()
	for i := range all {
		rt := &all[i]
		handle(rt.method+" "+base+rt.path, func(w http.ResponseWriter, r *http.Request) error {
			if err := requestRoom(r).checkRoute(rt); err != nil {
				return err
			}
			return requestRoom(r).answer(w, r, rt)
		})
	}
	handle(base+"/events", func(w http.ResponseWriter, r *http.Request) error {
		return requestRoom(r).serveEvents(w, r, feed)
	})
	mux.Handle(base+"/store/", remote.Handler(openStore, log))
	return mux
}

// dispatch answers a request by the handler for its method and path. If there is none, it
// returns the error to report.
func dispatch(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) error {
	escaped := r.URL.EscapedPath()
	if clean := path.Clean(escaped); escaped != clean && escaped != clean+"/" {
		return noRoute(r) // ServeMux would redirect to the clean path, which belongs to a different resource
	}
	h, pattern := mux.Handler(r)
	if pattern != "" {
		mux.ServeHTTP(w, r) // unlike h, it sets the values of the path
		return nil
	}
	refused := refusedResponse{http.Header{}}
	h.ServeHTTP(refused, r)
	if allowed := refused.header.Values("Allow"); len(allowed) > 0 {
		return wrongMethod(w, r, append(allowed, http.MethodOptions))
	}
	return noRoute(r)
}

// refusedResponse keeps the header with which ServeMux refuses a request. A 405 has the
// allowed methods in it.
type refusedResponse struct{ header http.Header }

func (w refusedResponse) Header() http.Header         { return w.header }
func (w refusedResponse) Write(b []byte) (int, error) { return len(b), nil }
func (w refusedResponse) WriteHeader(int)             {}
