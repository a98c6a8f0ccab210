// This file serves clients over HTTP, with a view for each token, and chooses the protocol
// version.

package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/profile"
)

// sessionTimeout is the time after which an unused session of an older protocol version
// ends.
const sessionTimeout = 30 * time.Minute

// maxViews is the maximum number of kept views. There is a view for each combination of token
// and profile.
const maxViews = 256

// Handler returns the streamable HTTP endpoint of the protocol, for requests that the guard
// admits. It sends no CORS headers.
//
// If the handler's pattern contains {profile}, such as /mcp/p/{profile}, the memory is bound
// to the profile in the path. The status is 404 if there is no such profile, and 403 if the
// server or the token is bound to a different profile. A profile is read on first use and
// then kept.
//
// Give the http.Server a ReadHeaderTimeout (30 s), a ReadTimeout (60 s) and an IdleTimeout
// (120 s), but no WriteTimeout, because streams of the older protocol versions stay open.
func (s *Server) Handler(g auth.Guard) http.Handler {
	house := &viewHandlerCache{server: s, handlersByKey: map[viewKey]*viewHandlers{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, err := g.Admit(r)
		if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
			refused.SetChallenge(w.Header())
			http.Error(w, refused.Reason, refused.Status)
			return
		}
		house.serveRequest(w, r, t)
	})
}

// viewKey identifies a room.
type viewKey struct{ token, profile string }

// viewHandlerCache has a room for each token and profile. A session belongs to one room: it is unknown
// with a different token or at a different path.
type viewHandlerCache struct {
	server *Server

	mu            sync.Mutex // guards handlersByKey
	handlersByKey map[viewKey]*viewHandlers
}

// viewHandlers serves one view.
type viewHandlers struct {
	statelessHandler, sessionHandler http.Handler
	listSessions                     func() iter.Seq[*mcp.ServerSession] // sessions of the handler older
}

func (h *viewHandlerCache) serveRequest(w http.ResponseWriter, r *http.Request, t auth.Token) {
	room, err := h.findHandlers(t, r.PathValue("profile"))
	if err != nil {
		http.Error(w, err.Error(), errorStatus(err))
		return
	}
	if refused := checkBody(r); refused != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = refused.writeTo(w) // ignore the error: the client has disconnected
		return
	}
	w = errorCodeWriter{w}
	// The SDK supports the version without sessions only in a handler without sessions, and
	// the older versions, with the client's name, only in a handler with them.
	if r.Header.Get("Mcp-Protocol-Version") >= statelessVersion {
		room.statelessHandler.ServeHTTP(w, r)
		return
	}
	room.addVersionHeader(r)
	room.sessionHandler.ServeHTTP(w, r)
}

// checkBody returns an error if the IDs in a request's body could not be returned unchanged.
// It leaves a body without messages, or one that is too long, to the SDK, which reports the
// error: the body can be read again afterwards.
func checkBody(r *http.Request) *lineError {
	if r.Method != http.MethodPost {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, auth.MaxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), r.Body), r.Body}
	var list []json.RawMessage
	if err != nil || len(b) > auth.MaxBody {
		return nil
	}
	if json.Unmarshal(b, &list) != nil {
		list = []json.RawMessage{b}
	}
	for _, one := range list {
		if msg, err := jsonrpc.DecodeMessage(one); err == nil {
			if refused := checkID(msg, one); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// addVersionHeader sets the version header of a request that lacks it, if the request belongs to a session with a
// protocol version that has no batches. Without the header, the SDK would assume an older version, which has batches.
func (room *viewHandlers) addVersionHeader(r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" || r.Header.Get("Mcp-Protocol-Version") != "" {
		return
	}
	for s := range room.listSessions() {
		if s.ID() != id {
			continue
		}
		if p := s.InitializeParams(); p != nil && p.ProtocolVersion >= noBatchVersion {
			r.Header.Set("Mcp-Protocol-Version", noBatchVersion)
		}
	}
}

// errorCodeWriter makes sure that error responses have a code (see [withErrorCode]).
type errorCodeWriter struct{ http.ResponseWriter }

// Unwrap implements the interface that [http.ResponseController] uses.
func (w errorCodeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w errorCodeWriter) Write(b []byte) (int, error) {
	out := b
	if bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b[:min(len(b), 1<<10)], []byte(`"error":{"code":0,`)) {
		msg, err := jsonrpc.DecodeMessage(b)
		if r, ok := msg.(*jsonrpc.Response); ok && err == nil {
			if coded, err := jsonrpc.EncodeMessage(withErrorCode(r)); err == nil {
				out = coded
			}
		}
	}
	if n, err := w.ResponseWriter.Write(out); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

var errTooManyViews = fmt.Errorf("more than %d profiles are served to tokens; restart this server", maxViews)

// errorStatus returns the HTTP status for a view that could not be made.
func errorStatus(err error) int {
	_, unreadable := errors.AsType[profile.Diagnostics](err)
	switch {
	case errors.Is(err, rights.ErrBoundProfile):
		return http.StatusForbidden
	case errors.Is(err, errTooManyViews):
		return http.StatusServiceUnavailable
	case errors.Is(err, oxbow.ErrInvalid) && !unreadable:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// findHandlers returns the room for a token and a profile. The profile is "" if the path names none.
func (h *viewHandlerCache) findHandlers(t auth.Token, profileName string) (*viewHandlers, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := viewKey{t.Name, profileName}
	if r, ok := h.handlersByKey[key]; ok {
		return r, nil
	}
	v, err := h.server.makeService(t, profileName)
	if err != nil {
		return nil, err
	}
	if len(h.handlersByKey) >= maxViews {
		return nil, errTooManyViews
	}
	m, err := v.openServer("http")
	if err != nil {
		return nil, err
	}
	options := mcp.StreamableHTTPOptions{
		JSONResponse:        true,
		Logger:              h.server.opts.Logger,
		SessionTimeout:      sessionTimeout,
		MaxRequestBodyBytes: auth.MaxBody,
		// The guard already checks the host against the allowed hosts.
		DisableLocalhostProtection:   true,
		PropagateRequestCancellation: true,
	}
	stateless := options
	stateless.Stateless = true
	endpoint := func(o mcp.StreamableHTTPOptions) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &o)
	}
	r := &viewHandlers{endpoint(stateless), endpoint(options), m.Sessions}
	h.handlersByKey[key] = r
	return r, nil
}
