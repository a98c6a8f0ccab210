// This file defines the server and its options. It also looks up the state for a request. Requests with the same token
// and profile share this state.

package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// Options configure a [Server]. If a field is nil or zero, a default is used.
type Options struct {
	// ChangeFeed delivers the changes of the memory. It may be shared with other servers. By default the server
	// creates its own.
	ChangeFeed *history.ChangeFeed
	// Rand is the source of random session IDs. The default is crypto/rand.
	Rand io.Reader
	// Logger receives errors whose details clients may not see. Nil discards them.
	Logger *slog.Logger
	// MergeChanges must be set if the home keeps no history. A session's change is then compared with the version of
	// the entry that this session has read.
	MergeChanges bool
}

// Server serves one memory. It is safe for concurrent use.
type Server struct {
	viewOptions   *rights.Options
	serverOptions Options
	mux           func() *http.ServeMux // Built by the first request, because many programs never receive one.
	heavyCalls    heavyCallSemaphore

	mu         sync.Mutex // guards viewStates and serverOptions.Rand
	viewStates map[viewKey]*memoryViewState
}

// New returns a server. viewOptions specifies the memory and the entries that each caller may see. The memory is opened
// by the first request that needs it. The server does not close the memory.
func New(viewOptions *rights.Options, serverOptions *Options) *Server {
	s := &Server{viewOptions: viewOptions, heavyCalls: newHeavyCallLimit(), viewStates: map[viewKey]*memoryViewState{}}
	if serverOptions != nil {
		s.serverOptions = *serverOptions
	}
	s.serverOptions.Rand = cmp.Or(s.serverOptions.Rand, rand.Reader)
	s.serverOptions.ChangeFeed = cmp.Or(
		s.serverOptions.ChangeFeed,
		history.NewChangeFeed(viewOptions.Workspace.Open, nil),
	)
	s.mux = sync.OnceValue(func() *http.ServeMux { return newMux(s.serverOptions.ChangeFeed, s.serverOptions.Logger) })
	return s
}

// profileHeader is the request header with the profile to use. sessionHeader is the request header with the client's
// session.
const (
	profileHeader = "Oxbow-Profile"
	sessionHeader = "Oxbow-Session"
)

// findViewState returns the state that all requests with the same token and profile share. The argument profile is ""
// if the request contains no profile. findViewState creates and stores the state at the first call for a token and a
// profile. It returns an error if the token must not use the profile, or if maxViews states exist already.
func (s *Server) findViewState(t auth.Token, profile string) (*memoryViewState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := viewKey{t.Name, profile}
	if r, ok := s.viewStates[key]; ok {
		return r, nil
	}
	v, err := s.viewOptions.MakeView(t, profile)
	if err != nil {
		return nil, err
	}
	if len(s.viewStates) >= maxViews {
		return nil, requestError(http.StatusServiceUnavailable, "full_house", "The server serves no more profiles",
			fmt.Sprintf("more than %d profiles are served to tokens", maxViews), "restart this server")
	}
	run := make([]byte, 8)
	if _, err := io.ReadFull(s.serverOptions.Rand, run); err != nil {
		return nil, fmt.Errorf("making a session id: %w", err)
	}
	w := *v.Workspace
	w.Unbounded, w.Words = true, referenceText
	v.Workspace = &w
	r := &memoryViewState{
		MemoryView:      v,
		tokenAndProfile: key,
		agentDoor: &rights.AgentInterface{
			InterfaceName:          "http",
			RunID:                  hex.EncodeToString(run),
			TokenName:              t.Name,
			MergesWithShownEntries: s.serverOptions.MergeChanges,
		},
		heavyCallSemaphore: s.heavyCalls,
	}
	s.viewStates[key] = r
	return r, nil
}

// Handler returns the HTTP handler for the paths below /api/v1/ and for /openapi.json. It answers requests that the
// guard admits, and sends no CORS headers.
//
// The http.Server should have a ReadHeaderTimeout (30 s), a ReadTimeout (60 s) and an IdleTimeout (120 s), but no
// WriteTimeout, because streams of events do not end.
func (s *Server) Handler(g auth.RequestGuard) http.Handler {
	// Only the path for applying operations accepts large bodies, because a request to this path may contain as many
	// operations as a store can apply at once.
	g.LargeBodyPath = basePath + "/store/apply"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if p := r.URL.EscapedPath(); p == "/openapi.json" || p == basePath+"/openapi.json" {
			if err := serveOpenAPIDescription(w, r, g); err != nil {
				writeProblem(w, r, err, s.serverOptions.Logger)
			}
			return
		}
		var h http.Handler
		room, err := s.admitRequest(r, g)
		if err == nil {
			h, err = s.findHandler(r)
		}
		if err != nil {
			writeProblem(w, r, err, s.serverOptions.Logger)
			return
		}
		ctx := room.agentDoor.ContextWithSource(r.Context(), room.Workspace, r.Header.Get(sessionHeader), r.UserAgent())
		h.ServeHTTP(w, r.WithContext(context.WithValue(ctx, viewStateContextKey{}, room)))
	})
}

// admitRequest lets the guard check a request, and returns the state for the request's token and profile.
func (s *Server) admitRequest(r *http.Request, g auth.RequestGuard) (*memoryViewState, error) {
	token, err := g.Admit(r)
	if err != nil {
		return nil, err
	}
	return s.findViewState(token, r.Header.Get(profileHeader))
}
