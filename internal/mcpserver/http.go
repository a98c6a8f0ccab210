// The transport over HTTP: a view for each token, and which version of the
// protocol a client speaks.

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
	"github.com/oxbow-memory/oxbow/internal/verb/view"
	"github.com/oxbow-memory/oxbow/profile"
)

// sessionTimeout ends a session of the older protocols that is not used.
const sessionTimeout = 30 * time.Minute

// maxRooms bounds the views that are kept: the tokens, times the profiles that
// each was used with.
const maxRooms = 256

// Handler returns the streamable HTTP endpoint of the protocol, for what the guard
// admits. It sends no CORS headers.
//
// Where the pattern that it is registered by has a {profile}, such as
// /mcp/p/{profile}, the memory is bound to that profile: 404 when there is none,
// and 403 when the server or the token is bound to another. A profile is read
// when it is first asked for, and kept.
//
// Give the http.Server a ReadHeaderTimeout (30 s), a ReadTimeout (60 s) and an IdleTimeout (120 s),
// but no WriteTimeout: streams of the older protocols stay open.
func (s *Server) Handler(g auth.Guard) http.Handler {
	house := &house{server: s, rooms: map[roomKey]*room{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t, err := g.Admit(r)
		if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
			refused.Challenge(w.Header())
			http.Error(w, refused.Reason, refused.Status)
			return
		}
		house.serve(w, r, t)
	})
}

// roomKey is what a room is found by.
type roomKey struct{ token, profile string }

// house holds a room for each token and profile. Sessions are of one room: with
// another token, or at another path, a session is not found.
type house struct {
	server *Server

	mu    sync.Mutex // guards rooms
	rooms map[roomKey]*room
}

// room serves one view.
type room struct {
	modern, older http.Handler
	sessions      func() iter.Seq[*mcp.ServerSession] // of older
}

func (h *house) serve(w http.ResponseWriter, r *http.Request, t auth.Token) {
	room, err := h.room(t, r.PathValue("profile"))
	if err != nil {
		http.Error(w, err.Error(), statusOf(err))
		return
	}
	if refused := checkBody(r); refused != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = refused.write(w) // the client is gone
		return
	}
	w = codeWriter{w}
	// The SDK speaks the version without sessions only where there are none,
	// and the older ones with the client's name only where there are.
	if r.Header.Get("Mcp-Protocol-Version") >= stateless {
		room.modern.ServeHTTP(w, r)
		return
	}
	room.tellVersion(r)
	room.older.ServeHTTP(w, r)
}

// checkBody returns why the ids in the body of a request cannot be those of answers. Of a
// body that has no messages or is too long, the SDK says so: it is read again.
func checkBody(r *http.Request) *refusal {
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

// tellVersion gives a request of a session that speaks a version without lists of
// messages the header of such a version, if it has none: the SDK would take it for
// an older one, which has them.
func (room *room) tellVersion(r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" || r.Header.Get("Mcp-Protocol-Version") != "" {
		return
	}
	for s := range room.sessions() {
		if p := s.InitializeParams(); s.ID() == id && p != nil && p.ProtocolVersion >= noLists {
			r.Header.Set("Mcp-Protocol-Version", noLists)
		}
	}
}

// codeWriter writes answers that are errors with a code; see [withCode].
type codeWriter struct{ http.ResponseWriter }

// Unwrap is for [http.ResponseController].
func (w codeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w codeWriter) Write(b []byte) (int, error) {
	out := b
	if bytes.HasPrefix(b, []byte("{")) && bytes.Contains(b[:min(len(b), 1<<10)], []byte(`"error":{"code":0,`)) {
		msg, err := jsonrpc.DecodeMessage(b)
		if r, ok := msg.(*jsonrpc.Response); ok && err == nil {
			if coded, err := jsonrpc.EncodeMessage(withCode(r)); err == nil {
				out = coded
			}
		}
	}
	if n, err := w.ResponseWriter.Write(out); err != nil {
		return min(n, len(b)), err
	}
	return len(b), nil
}

var errFullHouse = fmt.Errorf("more than %d profiles are served to tokens; restart this server", maxRooms)

// statusOf returns the HTTP status for a view that cannot be had.
func statusOf(err error) int {
	_, unreadable := errors.AsType[profile.Diagnostics](err)
	switch {
	case errors.Is(err, view.ErrBound):
		return http.StatusForbidden
	case errors.Is(err, errFullHouse):
		return http.StatusServiceUnavailable
	case errors.Is(err, oxbow.ErrInvalid) && !unreadable:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// room returns the room of a token and a profile, "" for none.
func (h *house) room(t auth.Token, named string) (*room, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := roomKey{t.Name, named}
	if r, ok := h.rooms[key]; ok {
		return r, nil
	}
	v, err := h.server.service(t, named)
	if err != nil {
		return nil, err
	}
	if len(h.rooms) >= maxRooms {
		return nil, errFullHouse
	}
	m, err := v.open("http")
	if err != nil {
		return nil, err
	}
	endpoint := func(stateless bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return m }, &mcp.StreamableHTTPOptions{
			Stateless:           stateless,
			JSONResponse:        true,
			Logger:              h.server.opts.Logger,
			SessionTimeout:      sessionTimeout,
			MaxRequestBodyBytes: auth.MaxBody,
			// The guard does this, for the hosts that are allowed.
			DisableLocalhostProtection:   true,
			PropagateRequestCancellation: true,
		})
	}
	r := &room{endpoint(true), endpoint(false), m.Sessions}
	h.rooms[key] = r
	return r, nil
}
