// This file serves MCP clients over HTTP. Each access token may see only a part of the memory. The file also handles
// the protocol version.

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

// sessionTimeout is the time after which an unused session ends. Only older protocol versions have sessions.
const sessionTimeout = 30 * time.Minute

// maxCachedViews is the maximum number of cached views. Each combination of token and profile has a view.
const maxCachedViews = 256

// Handler returns the streamable HTTP endpoint of the protocol. It answers requests that the guard admits, and sends
// no CORS headers.
//
// If the handler's pattern contains {profile}, as in /mcp/p/{profile}, the client sees only the entries that the
// profile in the path selects. The status is 404 if the profile does not exist, and 403 if the server or the token is
// bound to a different profile. A profile is read when it is first used, and then cached.
//
// The http.Server should have a ReadHeaderTimeout (30 s), a ReadTimeout (60 s) and an IdleTimeout (120 s), but no
// WriteTimeout, because streams of the older protocol versions stay open.
func (s *Server) Handler(g auth.RequestGuard) http.Handler {
	house := &viewHandlerCache{server: s, handlersByKey: map[memoryViewKey]*viewHTTPHandlers{}}
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

// memoryViewKey identifies the HTTP handlers for clients that see the same part of the memory.
type memoryViewKey struct{ tokenName, profile string }

// viewHandlerCache contains the handlers for each combination of token and profile. A session is known only to the
// handlers that created it. Therefore a request for the session fails if it has a different token, or a path with a
// different profile.
type viewHandlerCache struct {
	server *Server

	mu            sync.Mutex // guards handlersByKey
	handlersByKey map[memoryViewKey]*viewHTTPHandlers
}

// viewHTTPHandlers contains the HTTP handlers for clients that may see the same part of the memory.
type viewHTTPHandlers struct {
	statelessHandler, sessionHandler http.Handler
	listSessions                     func() iter.Seq[*mcp.ServerSession] // lists the sessions of sessionHandler
}

// serveRequest answers a request of a client with the token t. It chooses the handler for the token, the profile in the
// path, and the client's protocol version.
func (h *viewHandlerCache) serveRequest(w http.ResponseWriter, r *http.Request, t auth.Token) {
	room, err := h.findHandlers(t, r.PathValue("profile"))
	if err != nil {
		http.Error(w, err.Error(), errorHTTPStatus(err))
		return
	}
	if refused := checkRequestBody(r); refused != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = refused.writeTo(w) // ignore the error: the client has disconnected
		return
	}
	w = errorCodeWriter{w}
	// The SDK needs two handlers. Only a handler without sessions supports the newest protocol version, which has no
	// sessions. Only a handler with sessions supports the older protocol versions and knows the client's name.
	if r.Header.Get("Mcp-Protocol-Version") >= statelessVersion {
		room.statelessHandler.ServeHTTP(w, r)
		return
	}
	room.addVersionHeader(r)
	room.sessionHandler.ServeHTTP(w, r)
}

// checkRequestBody returns an error if a message in the body of the request r has an ID that the answer could not
// contain exactly as it was sent. An answer must contain the request's ID. The function returns nil if the request is
// not a POST, or if the body is longer than auth.MaxBodyBytes or contains no messages. In these cases the SDK reports
// the error. The body can be read again after the call.
func checkRequestBody(r *http.Request) *messageError {
	if r.Method != http.MethodPost {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, auth.MaxBodyBytes+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b), r.Body), r.Body}
	if err != nil || len(b) > auth.MaxBodyBytes {
		return nil
	}
	list := []json.RawMessage{b}
	if isBatch := bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("[")); isBatch {
		list = nil
		if json.Unmarshal(b, &list) != nil {
			list = []json.RawMessage{b}
		}
	}
	for _, one := range list {
		if hasExactIntegerID(one) {
			continue // This is the usual case. The SDK decodes the message later.
		}
		if msg, err := jsonrpc.DecodeMessage(one); err == nil {
			if refused := checkRequestID(msg, one); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// addVersionHeader adds the header Mcp-Protocol-Version to a request that lacks it, if the request's session uses a
// protocol version without batches (several calls in one request). The header's value is firstVersionWithoutBatches.
// Without the header, the SDK would assume an older version, which allows batches.
func (room *viewHTTPHandlers) addVersionHeader(r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" || r.Header.Get("Mcp-Protocol-Version") != "" {
		return
	}
	for s := range room.listSessions() {
		if s.ID() != id {
			continue
		}
		if p := s.InitializeParams(); p != nil && p.ProtocolVersion >= firstVersionWithoutBatches {
			r.Header.Set("Mcp-Protocol-Version", firstVersionWithoutBatches)
		}
	}
}

// errorCodeWriter ensures that each error response has an error code (see [withErrorCode]).
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

var errTooManyViews = fmt.Errorf("more than %d profiles are served to tokens; restart this server", maxCachedViews)

// errorHTTPStatus returns the HTTP status for an error that prevented the server from creating handlers for a client.
// The server creates these handlers for the part of the memory that the client may see.
func errorHTTPStatus(err error) int {
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

// findHandlers returns the handlers for a token and a profile, and creates them if necessary. profileName is "" if the
// path contains no profile.
func (h *viewHandlerCache) findHandlers(t auth.Token, profileName string) (*viewHTTPHandlers, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := memoryViewKey{t.Name, profileName}
	if r, ok := h.handlersByKey[key]; ok {
		return r, nil
	}
	v, err := h.server.newClientService(t, profileName)
	if err != nil {
		return nil, err
	}
	if len(h.handlersByKey) >= maxCachedViews {
		return nil, errTooManyViews
	}
	m, err := v.openServer("http")
	if err != nil {
		return nil, err
	}
	options := mcp.StreamableHTTPOptions{
		JSONResponse:        true,
		Logger:              h.server.serverOptions.Logger,
		SessionTimeout:      sessionTimeout,
		MaxRequestBodyBytes: auth.MaxBodyBytes,
		// The HTTP handler before this one already compares the host in a request with the allowed hosts.
		DisableLocalhostProtection:   true,
		PropagateRequestCancellation: true,
	}
	stateless := options
	stateless.Stateless = true
	endpoint := func(o mcp.StreamableHTTPOptions) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &o)
	}
	r := &viewHTTPHandlers{endpoint(stateless), endpoint(options), m.Sessions}
	h.handlersByKey[key] = r
	return r, nil
}
